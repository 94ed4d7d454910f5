#include <pitsaw/http/event_stream.hpp>

#include <pitsaw/task/or_return.hpp>

#include <algorithm>
#include <charconv>
#include <memory>
#include <system_error>
#include <utility>

namespace pitsaw::inline v0::http {
namespace {

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

using event_work = std::move_only_function<task<io_result<void>>(event_writer&)>;

/// Runs the user's work, which it owns, on a body's writer.
task<io_result<void>> write_events(event_work& work, body_writer& to) {
    event_writer events(to);
    co_return co_await work(events);
}

} // namespace

/// Whether a line has ended.
bool event_parser::take_line(std::string_view& input) {
    if (is_after_cr_ && !input.empty()) {
        is_after_cr_ = false;
        if (input.front() == '\n') input.remove_prefix(1);
    }
    auto const end = std::min(input.find_first_of("\r\n"), input.size());
    if (end > bytes_max_ - std::min(bytes_max_, line_.size())) {
        is_too_long_ = true;
        input = {};
        return false;
    }
    line_.append(input.substr(0, end));
    if (end == input.size()) {
        input = {};
        return false;
    }
    is_after_cr_ = input[end] == '\r';
    input.remove_prefix(end + 1);
    return true;
}

std::optional<server_event> event_parser::dispatch() {
    auto const type = std::exchange(type_, {});
    if (!std::exchange(has_data_, false)) return std::nullopt;
    server_event made(std::exchange(data_, {}));
    made.type = type;
    made.id = id_;
    return made;
}

std::optional<server_event> event_parser::line_ended() {
    auto const whole = std::exchange(line_, {});
    std::string_view line = whole;
    if (std::exchange(is_first_line_, false) && line.starts_with(byte_order_mark))
        line.remove_prefix(byte_order_mark.size());
    if (line.empty()) return dispatch();
    auto const colon = line.find(':');
    auto const name = line.substr(0, colon);
    auto value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    if (name == "data") {
        if (data_.size() + value.size() >= bytes_max_) {
            is_too_long_ = true;
            return std::nullopt;
        }
        if (std::exchange(has_data_, true)) data_ += '\n';
        data_ += value;
    } else if (name == "event") {
        type_ = value;
    } else if (name == "id") {
        if (value.find('\0') == std::string_view::npos) id_ = value;
    } else if (name == "retry") {
        std::uint64_t milliseconds = 0;
        auto const* const end = value.data() + value.size();
        auto const [stopped, error] = std::from_chars(value.data(), end, milliseconds);
        if (!value.empty() && error == std::errc() && stopped == end) retry_ms_ = milliseconds;
    }
    return std::nullopt;
}

std::optional<server_event> event_parser::next(std::string_view& input) {
    while (!is_too_long_ && !input.empty()) {
        if (!take_line(input)) continue;
        if (auto made = line_ended()) return made;
    }
    input = {};
    return std::nullopt;
}

std::optional<server_event> event_parser::finish() {
    if (is_too_long_) return std::nullopt;
    if (!line_.empty())
        if (auto made = line_ended()) return made;
    return dispatch();
}

task<io_result<std::optional<server_event>>> event_reader::read() {
    using result = io_result<std::optional<server_event>>;
    for (;;) {
        if (auto event = parser_.next(left_)) co_return result(std::move(event));
        if (parser_.is_too_long()) co_return std::unexpected(std::make_error_code(std::errc::message_size));
        if (is_over_) co_return result();
        auto const piece = co_await or_return(from_.read());
        left_ = {reinterpret_cast<char const*>(piece.data()), piece.size()};
        is_over_ = piece.empty();
        if (!is_over_) continue;
        auto last = parser_.finish();
        co_return result(std::move(last));
    }
}

task<io_result<void>> event_writer::write(server_event event) {
    constexpr std::string_view refused("\r\n\0", 3);
    bool const is_bad = event.type.find_first_of(refused) != std::string::npos ||
                        event.id.find_first_of(refused) != std::string::npos;
    if (is_bad) co_return std::unexpected(std::make_error_code(std::errc::invalid_argument));
    std::string text;
    if (!event.type.empty()) text += "event: " + event.type + "\n";
    if (!event.id.empty()) text += "id: " + event.id + "\n";
    std::string_view left = event.data;
    for (;;) {
        auto const end = std::min(left.find_first_of("\r\n"), left.size());
        text.append("data: ").append(left.substr(0, end)).append("\n");
        if (end == left.size()) break;
        left.remove_prefix(left.substr(end).starts_with("\r\n") ? end + 2 : end + 1);
    }
    text += "\n";
    co_return co_await to_.write(text);
}

task<io_result<void>> event_writer::heartbeat() { return to_.write(std::string_view(":\n\n")); }

response event_response(event_work write) {
    auto work = [own = std::move(write)](body_writer& to) mutable { return write_events(own, to); };
    auto made = response::stream(200, body(body::writer(std::move(work))));
    made.headers().add("Content-Type", "text/event-stream");
    made.headers().add("Cache-Control", "no-cache").add("X-Accel-Buffering", "no");
    return made;
}

} // namespace pitsaw::inline v0::http
