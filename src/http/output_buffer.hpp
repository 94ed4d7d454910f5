#pragma once
#include <pitsaw/base/clock.hpp>
#include <pitsaw/http/message.hpp>
#include <pitsaw/io/result.hpp>
#include <pitsaw/net/tcp_stream.hpp>
#include <pitsaw/task/task.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace pitsaw::inline v0::http {

/// What a connection has to send: heads and short bodies are gathered, and go out with one send.
class output_buffer {
  public:
    output_buffer(tcp_stream& to, duration const write_timeout) noexcept
        : stream_(to), write_timeout_(write_timeout) {}

    [[nodiscard]] recycled_string& text() noexcept { return text_; }
    /// Lets go of the memory, when nothing is left to send.
    void release() noexcept {
        recycled_string().swap(text_);
        has_sent_ = false;
    }
    /// Whether the system has taken a byte since then.
    [[nodiscard]] bool has_sent() const noexcept { return has_sent_; }
    /// Whether a send failed, and not for its time.
    [[nodiscard]] bool is_broken() const noexcept { return is_broken_; }

    /// Sends what was gathered. Errors: `timed_out` when the peer takes nothing for the time of a write.
    [[nodiscard]] task<io_result<void>> flush();
    /// The same, and after it `data` and `tail`, without a copy of them.
    [[nodiscard]] task<io_result<void>> flush_with(std::string_view data, std::string_view tail);

  private:
    [[nodiscard]] io_result<void> note(io_result<std::size_t> const& went, std::size_t& sent) noexcept;

    tcp_stream& stream_;
    duration write_timeout_;
    recycled_string text_;
    bool has_sent_ = false;
    bool is_broken_ = false;
};

/// Writes a body into an output, as its message is framed.
class framed_writer final : public body_writer {
  public:
    enum class framing : std::uint8_t { length, chunked, close };

    framed_writer(output_buffer& to, framing how, std::uint64_t length) noexcept
        : to_(to), left_(length), how_(how) {}

    using body_writer::write;
    [[nodiscard]] task<io_result<void>> write(std::span<std::byte const> piece) override;

    /// After the last write: gathers what ends the body. Errors: `message_size` if fewer bytes came than were
    /// announced.
    [[nodiscard]] io_result<void> finish();

  private:
    output_buffer& to_;
    std::uint64_t left_; // bytes of an announced length
    framing how_;
};

/// Writes all of a streamed or written body.
[[nodiscard]] task<io_result<void>> write_body(body& from, framed_writer& to);

} // namespace pitsaw::inline v0::http
