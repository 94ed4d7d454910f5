#include "gateway/json_scalars.hpp"

#include <boost/json/basic_parser_impl.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>

namespace gateway {
namespace {

using boost::json::error_code;
using boost::json::string_view;

constexpr std::size_t depth_max = 256; // of the document
constexpr std::size_t told_depth = 3;  // objects around a scalar that is told of
constexpr std::size_t text_max = 256;

/// What Boost's parser calls.
struct handler {
    explicit handler(json_scalars::on_scalar whom) : told(std::move(whom)) {}

    static constexpr auto max_object_size = static_cast<std::size_t>(-1);
    static constexpr auto max_array_size = static_cast<std::size_t>(-1);
    static constexpr auto max_key_size = static_cast<std::size_t>(-1);
    static constexpr auto max_string_size = static_cast<std::size_t>(-1);

    json_scalars::on_scalar told;
    std::size_t depth = 0;                          // of objects
    std::size_t arrays = 0;                         // around what comes now
    std::array<std::size_t, told_depth + 1> ends{}; // of the path, at each depth
    std::string path;
    std::string text;
    bool is_cut = false;
    bool is_object = false;

    [[nodiscard]] bool is_near() const noexcept { return arrays == 0 && depth >= 1 && depth <= told_depth; }
    void keep(string_view part) {
        if (!is_near()) return;
        auto const room = text_max - text.size();
        is_cut |= part.size() > room;
        text.append(part.data(), std::min(part.size(), room));
    }
    bool tell(json_scalar value) {
        if (is_near()) told(path, value);
        text.clear();
        is_cut = false;
        return true;
    }
    void tell_other() {
        json_scalar value;
        value.what = json_scalar::kind::other;
        tell(value);
    }
    bool tell_number(std::uint64_t number) {
        json_scalar value;
        value.what = json_scalar::kind::number;
        value.number = number;
        return tell(value);
    }

    bool on_document_begin(error_code&) { return true; }
    bool on_document_end(error_code&) { return true; }
    bool on_object_begin(error_code&) {
        is_object = true;
        tell_other();
        if (arrays == 0 && ++depth <= told_depth) ends[depth] = path.size();
        return true;
    }
    bool on_object_end(std::size_t, error_code&) {
        if (arrays == 0 && depth-- <= told_depth) path.resize(ends[depth + 1]);
        return true;
    }
    bool on_array_begin(error_code& error) {
        if (depth == 0) error = boost::json::error::not_object;
        tell_other();
        ++arrays;
        return depth != 0;
    }
    bool on_array_end(std::size_t, error_code&) {
        --arrays;
        return true;
    }
    bool on_key_part(string_view part, std::size_t, error_code&) {
        keep(part);
        return true;
    }
    bool on_key(string_view part, std::size_t, error_code&) {
        keep(part);
        if (is_near()) {
            path.resize(ends[depth]);
            if (!path.empty()) path += '.';
            bool const is_plain = !text.empty() && text.find('.') == std::string::npos;
            path += is_plain ? text : "?"; // else it could pass for another path
        }
        text.clear();
        is_cut = false;
        return true;
    }
    bool on_string_part(string_view part, std::size_t, error_code&) {
        keep(part);
        return true;
    }
    bool on_string(string_view part, std::size_t, error_code&) {
        keep(part);
        json_scalar value;
        value.what = json_scalar::kind::text;
        value.text = text;
        value.is_cut = is_cut;
        return tell(value);
    }
    bool on_number_part(string_view, error_code&) { return true; }
    bool on_int64(std::int64_t number, string_view, error_code&) {
        return tell_number(number < 0 ? 0 : static_cast<std::uint64_t>(number));
    }
    bool on_uint64(std::uint64_t number, string_view, error_code&) { return tell_number(number); }
    bool on_double(double number, string_view, error_code&) {
        constexpr double most = 9e15;
        return tell_number(number > 0 && number < most ? static_cast<std::uint64_t>(number) : 0);
    }
    bool on_bool(bool is_true, error_code&) {
        json_scalar value;
        value.what = json_scalar::kind::boolean;
        value.boolean = is_true;
        return tell(value);
    }
    bool on_null(error_code&) { return tell(json_scalar()); }
    bool on_comment_part(string_view, error_code&) { return true; }
    bool on_comment(string_view, error_code&) { return true; }
};

boost::json::parse_options options() {
    boost::json::parse_options made;
    made.max_depth = depth_max;
    return made;
}

} // namespace

struct json_scalars::parts {
    explicit parts(on_scalar told) : parser(options(), std::move(told)) {}

    boost::json::basic_parser<handler> parser;
    bool is_good = true;

    bool write(bool is_more, std::string_view piece) {
        error_code error;
        if (is_good)
            is_good = parser.write_some(is_more, piece.data(), piece.size(), error) == piece.size() && !error;
        return is_good;
    }
};

json_scalars::json_scalars(on_scalar told) : parts_(std::make_unique<parts>(std::move(told))) {}
json_scalars::json_scalars(json_scalars&&) noexcept = default;
json_scalars& json_scalars::operator=(json_scalars&&) noexcept = default;
json_scalars::~json_scalars() = default;

bool json_scalars::feed(std::string_view const piece) { return parts_->write(true, piece); }
bool json_scalars::finish() { return parts_->write(false, {}) && parts_->parser.handler().is_object; }

} // namespace gateway
