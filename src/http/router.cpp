#include <pitsaw/http/router.hpp>

#include <pitsaw/executor/executor_ref.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <span>
#include <stdexcept>

namespace pitsaw::inline v0::http {
namespace {

constexpr std::string_view rest_mark = "...}";

/// Cuts the first segment off a path, with the slash before it.
std::string_view take_segment(std::string_view& path) noexcept {
    auto const end = std::min(path.find('/', 1), path.size());
    auto const segment = path.substr(0, end);
    path.remove_prefix(end);
    return segment;
}

constexpr bool is_parameter(std::string_view const segment) noexcept {
    return segment.size() > 2 && segment[1] == '{' && segment.back() == '}';
}

/// How many parameters `path` gives `pattern`, which are written to `into`; -1 if they do not meet.
int match(std::string_view pattern, std::string_view path, std::span<header> const into) noexcept {
    std::size_t count = 0;
    while (!pattern.empty()) {
        auto const segment = take_segment(pattern);
        if (!is_parameter(segment)) {
            if (path.empty() || take_segment(path) != segment) return -1;
            continue;
        }
        if (path.empty()) return -1;
        bool const is_rest = segment.ends_with(rest_mark);
        auto const value = is_rest ? std::exchange(path, std::string_view()) : take_segment(path);
        if (!is_rest && value.size() < 2) return -1; // an empty segment is no value
        auto const cut = is_rest ? rest_mark.size() : 1;
        into[count++] = {segment.substr(2, segment.size() - 2 - cut), value.substr(1)};
    }
    return path.empty() ? static_cast<int>(count) : -1;
}

void check_pattern(std::string_view pattern, std::size_t const parameters_max) {
    auto const require = [](bool is_good) {
        if (!is_good) throw std::invalid_argument("http::router: this is no pattern");
    };
    require(pattern.starts_with('/'));
    std::size_t count = 0;
    while (!pattern.empty()) {
        auto const segment = take_segment(pattern);
        if (!is_parameter(segment)) {
            require(segment.find_first_of("{}") == std::string_view::npos);
            continue;
        }
        bool const is_rest = segment.ends_with(rest_mark);
        require(!is_rest || (pattern.empty() && segment.size() > 2 + rest_mark.size()));
        require(++count <= parameters_max);
    }
}

} // namespace

router& router::add(method const of, std::string_view const pattern, handler answer) {
    check_pattern(pattern, request::parameters_max);
    bool const has_parameters = pattern.find('{') != std::string_view::npos;
    route made{of, std::string(pattern), has_parameters, std::move(answer)};
    auto const before = has_parameters ? routes_.end()
                                       : std::find_if(routes_.begin(), routes_.end(),
                                                      [](route const& one) { return one.has_parameters; });
    routes_.insert(before, std::move(made));
    return *this;
}

router& router::otherwise(handler answer) {
    otherwise_ = std::move(answer);
    return *this;
}

router& router::refused(refusal_handler answer) {
    refused_ = std::move(answer);
    return *this;
}

response router::refuse(refusal const& what) {
    if (refused_) {
        try {
            auto made = refused_(what);
            if (made.status() >= 400 && made.status() < 600) return made;
        } catch (...) {
            current_executor()->lost_error(std::current_exception());
        }
    }
    return response(what.status(), "text/plain", std::string(reason_of(what.status())) + "\n");
}

task<response> router::refuse(unsigned const status, request& to) {
    auto made = refuse(refusal(status, *to.client_, name(to.method()), to.target()));
    if (made.status() == 405 && !made.headers().find("allow")) made.headers().add("Allow", allowed(to));
    co_return made;
}

router::route* router::find(request& to, method const of) noexcept {
    for (auto& one : routes_) {
        if (one.of != of) continue;
        if (!one.has_parameters) {
            if (one.pattern != to.path()) continue;
            to.parameters_ = 0;
            return &one;
        }
        int const count = match(one.pattern, to.path(), to.parameter_);
        if (count < 0) continue;
        to.parameters_ = static_cast<std::uint8_t>(count);
        return &one;
    }
    return nullptr;
}

std::string router::allowed(request& to) {
    std::string list;
    auto const add = [&list](method one) { list += (list.empty() ? "" : ", ") + std::string(name(one)); };
    for (int i = 0; i < static_cast<int>(method::other); ++i) {
        auto const one = static_cast<method>(i);
        bool const is_by_get = one == method::head && find(to, method::get) != nullptr;
        if (is_by_get || find(to, one) != nullptr) add(one);
    }
    return list;
}

task<response> router::answer(request& to) {
    auto* found = find(to, to.method());
    if (found == nullptr && to.method() == method::head) found = find(to, method::get);
    if (found != nullptr) return found->answer(to);
    if (!allowed(to).empty()) return refuse(405, to);
    to.parameters_ = 0;
    return otherwise_ ? otherwise_(to) : refuse(404, to);
}

} // namespace pitsaw::inline v0::http
