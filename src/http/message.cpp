#include <pitsaw/http/message.hpp>

#include "http/characters.hpp"

#include <pitsaw/task/or_return.hpp>

#include <system_error>

namespace pitsaw::inline v0::http {
namespace {

/// The strings that a generator yields.
class generated final : public body_source {
  public:
    explicit generated(async_generator<std::string> pieces) : pieces_(std::move(pieces)) {}

    task<io_result<std::span<std::byte const>>> read() override {
        for (;;) {
            auto next = co_await pieces_.next();
            if (!next.has_value()) co_return io_result<std::span<std::byte const>>();
            piece_ = std::move(*next);
            if (piece_.empty()) continue; // no end
            co_return io_result<std::span<std::byte const>>(std::as_bytes(std::span(piece_)));
        }
    }

  private:
    async_generator<std::string> pieces_;
    std::string piece_;
};

} // namespace

body::body(async_generator<std::string> pieces)
    : what_(stream{std::make_unique<generated>(std::move(pieces)), std::nullopt}) {}

task<io_result<std::string>> read_all(body_source& from, std::size_t const bytes_max) {
    std::string all;
    for (;;) {
        auto const piece = co_await or_return(from.read());
        if (piece.empty()) co_return io_result<std::string>(std::move(all));
        if (piece.size() > bytes_max - all.size())
            co_return std::unexpected(std::make_error_code(std::errc::message_size));
        all.append(reinterpret_cast<char const*>(piece.data()), piece.size());
    }
}

std::string_view request::parameter(std::string_view const name) const noexcept {
    for (std::size_t i = 0; i < parameters_; ++i)
        if (parameter_[i].name == name) return parameter_[i].value;
    return {};
}

io_result<endpoint> request::peer() const noexcept { return client_->peer_endpoint(); }

std::string_view reason_of(unsigned const status) noexcept {
    struct entry {
        unsigned status;
        std::string_view reason;
    };
    static constexpr entry entries[] = {
        {200, "OK"},
        {201, "Created"},
        {202, "Accepted"},
        {204, "No Content"},
        {206, "Partial Content"},
        {301, "Moved Permanently"},
        {302, "Found"},
        {303, "See Other"},
        {304, "Not Modified"},
        {307, "Temporary Redirect"},
        {308, "Permanent Redirect"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {408, "Request Timeout"},
        {409, "Conflict"},
        {411, "Length Required"},
        {413, "Content Too Large"},
        {414, "URI Too Long"},
        {415, "Unsupported Media Type"},
        {417, "Expectation Failed"},
        {422, "Unprocessable Content"},
        {429, "Too Many Requests"},
        {431, "Request Header Fields Too Large"},
        {500, "Internal Server Error"},
        {501, "Not Implemented"},
        {502, "Bad Gateway"},
        {503, "Service Unavailable"},
        {504, "Gateway Timeout"},
        {505, "HTTP Version Not Supported"},
    };
    for (auto const& one : entries)
        if (one.status == status) return one.reason;
    return {};
}

std::optional<std::string> percent_decoded(std::string_view const text) {
    std::string decoded;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            decoded += text[i];
            continue;
        }
        if (text.size() - i < 3) return std::nullopt;
        int const high = digit_of(text[i + 1]), low = digit_of(text[i + 2]);
        if (high < 0 || low < 0) return std::nullopt;
        decoded += static_cast<char>(high * 16 + low);
        i += 2;
    }
    return decoded;
}

} // namespace pitsaw::inline v0::http
