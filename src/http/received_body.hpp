#pragma once
#include <pitsaw/base/clock.hpp>
#include <pitsaw/http/message.hpp>
#include <pitsaw/net/tcp_stream.hpp>

#include "http/chunked_decoder.hpp"
#include "http/head_parser.hpp"
#include "http/input_buffer.hpp"
#include "http/output_buffer.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <system_error>

namespace pitsaw::inline v0::http {

/// How slowly a body may come: for all of it `grace`, of the time that somebody waits for it, and a second
/// more for each `rate_min` bytes.
struct body_pace {
    duration grace = duration::max();
    std::uint32_t rate_min = 0; // bytes a second; 0: no matter
};

/// The body of a message that a connection receives. One for a connection, begun anew by each message.
class received_body final : public body_source {
  public:
    received_body(tcp_stream& from, input_buffer& in, std::uint64_t bytes_max, body_pace pace) noexcept
        : stream_(from), in_(in), bytes_max_(bytes_max), pace_(pace) {}

    /// After the head. `continue_through`: where the client waits for `100 Continue`, else null. False: it is
    /// announced as longer than it may be.
    [[nodiscard]] bool begin(message_head const& head, output_buffer* continue_through) noexcept;

    [[nodiscard]] task<io_result<std::span<std::byte const>>> read() override;

    /// Drops what has come already.
    void skip_buffered() noexcept;

    [[nodiscard]] bool is_done() const noexcept { return framing_ == body_end::none; }
    /// Whether the client has not been told to send it.
    [[nodiscard]] bool is_awaited() const noexcept { return continue_through_ != nullptr; }
    /// What is left of a body whose length is known; of others, the most there can be.
    [[nodiscard]] std::uint64_t left() const noexcept {
        return framing_ == body_end::none ? 0 : framing_ == body_end::length ? left_ : UINT64_MAX;
    }
    /// The status that tells the client what was wrong with its body; 0: nothing.
    [[nodiscard]] int refusal() const noexcept { return refusal_; }
    /// The connection broke while it was read.
    [[nodiscard]] bool is_broken() const noexcept { return is_broken_; }

  private:
    enum class step : std::uint8_t { need_more, data, done, failed };

    [[nodiscard]] step next(std::string_view& piece) noexcept;
    [[nodiscard]] step refuse(int status) noexcept {
        refusal_ = status;
        return step::failed;
    }
    [[nodiscard]] duration allowed() const noexcept;
    [[nodiscard]] std::error_code why() const noexcept;
    [[nodiscard]] task<io_result<bool>> receive();

    tcp_stream& stream_;
    input_buffer& in_;
    output_buffer* continue_through_ = nullptr;
    std::uint64_t bytes_max_;
    std::uint64_t left_ = 0; // bytes of an announced length
    std::uint64_t came_ = 0; // bytes of the body
    body_pace pace_;
    duration waited_{};
    chunked_decoder decoder_;
    std::uint16_t refusal_ = 0;
    body_end framing_ = body_end::none; // none: all of it has been read
    bool is_broken_ = false;
};

} // namespace pitsaw::inline v0::http
