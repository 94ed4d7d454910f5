#pragma once
#include <pitsaw/io/readable.hpp>
#include <pitsaw/io/result.hpp>
#include <pitsaw/task/task.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <system_error>

namespace pitsaw::inline v0 {

/// The error of a reader whose stream ended before what was asked for: `no_message_available`.
[[nodiscard]] inline auto end_of_stream() noexcept -> std::error_code {
    return std::make_error_code(std::errc::no_message_available);
}

/// Reads whole pieces from a stream and keeps what came beyond them.
///
/// ```cpp
/// ps::buffered_reader reader{stream};
/// auto header = co_await ps::with_timeout(1s, reader.read_exactly(4));
/// if (!header) header = co_await reader.read_exactly(4);       // goes on where the first stopped
/// ```
/// Lifetime: refers to the stream. The bytes that a read gives are in the reader's buffer until the
/// next read. Threads: the stream's worker; one read at a time. Errors: the stream's; `end_of_stream()` if
/// it ended in the middle, `message_size` if the piece does not fit into the buffer or the limit. No error
/// consumes a byte: `buffered()` shows what is there. Stopping: a stop or timeout in the middle loses
/// nothing: the next call goes on. Sizes: 8 KiB of buffer unless said; the longest piece.
template <readable Stream> class buffered_reader {
  public:
    static constexpr std::size_t usual_bytes = 8192;

    explicit buffered_reader(Stream& from, std::size_t capacity = usual_bytes)
        : from_(from), capacity_(capacity), memory_(std::make_unique<std::byte[]>(capacity)) {}
    buffered_reader(buffered_reader&&) = delete;

    /// Exactly `count` bytes.
    [[nodiscard]] task<io_result<std::span<std::byte const>>> read_exactly(std::size_t count) {
        while (end_ - begin_ < count) {
            auto const more = co_await fill(count);
            if (!more.has_value()) co_return std::unexpected(more.error());
        }
        co_return io_result<std::span<std::byte const>>(take(count));
    }

    /// Up to and with the first `mark`, which has at least one character and lives until this has ended; at
    /// most `bytes_max`.
    [[nodiscard]] task<io_result<std::string_view>> read_until(std::string_view mark,
                                                               std::size_t bytes_max = usual_bytes) {
        std::size_t looked_at = 0;
        for (;;) {
            auto const at = text().find(mark, looked_at);
            if (at != std::string_view::npos && at + mark.size() <= bytes_max)
                co_return io_result<std::string_view>(take_text(at + mark.size()));
            auto const there = end_ - begin_;
            if (at != std::string_view::npos || there >= bytes_max)
                co_return std::unexpected(std::make_error_code(std::errc::message_size));
            looked_at = there - std::min(there, mark.size() - 1); // a mark may have come in two parts
            auto const more = co_await fill(there + 1);
            if (!more.has_value()) co_return std::unexpected(more.error());
        }
    }

    /// A line without its `\n` or `\r\n`; at most `bytes_max` with it.
    [[nodiscard]] task<io_result<std::string_view>> read_line(std::size_t bytes_max = usual_bytes) {
        auto line = co_await read_until("\n", bytes_max);
        if (line.has_value()) {
            line->remove_suffix(1);
            if (line->ends_with('\r')) line->remove_suffix(1);
        }
        co_return line;
    }

    /// A reader is a source as well: what is buffered comes first.
    [[nodiscard]] task<io_result<std::size_t>> receive(std::span<std::byte> into) {
        if (begin_ == end_) co_return co_await from_.receive(into);
        auto const bytes = take(std::min(into.size(), end_ - begin_));
        std::memcpy(into.data(), bytes.data(), bytes.size());
        co_return io_result<std::size_t>(bytes.size());
    }

    /// What has come and was not read yet.
    [[nodiscard]] std::span<std::byte const> buffered() const noexcept {
        return {memory_.get() + begin_, end_ - begin_};
    }

  private:
    /// Receives something, with room for a piece of `wanted` bytes.
    task<io_result<void>> fill(std::size_t wanted) {
        if (wanted > capacity_) co_return std::unexpected(std::make_error_code(std::errc::message_size));
        if (begin_ + wanted > capacity_ || begin_ == end_) {
            std::memmove(memory_.get(), memory_.get() + begin_, end_ - begin_);
            end_ -= begin_;
            begin_ = 0;
        }
        std::span<std::byte> const room(memory_.get() + end_, capacity_ - end_);
        auto const got = co_await from_.receive(room);
        if (!got.has_value()) co_return std::unexpected(got.error());
        if (*got == 0) co_return std::unexpected(end_of_stream());
        end_ += *got;
        co_return io_result<void>();
    }

    [[nodiscard]] std::string_view text() const noexcept {
        return {reinterpret_cast<char const*>(memory_.get()) + begin_, end_ - begin_};
    }
    [[nodiscard]] std::span<std::byte const> take(std::size_t count) noexcept {
        auto const taken = buffered().first(count);
        begin_ += count;
        return taken;
    }
    [[nodiscard]] std::string_view take_text(std::size_t count) noexcept {
        auto const taken = text().substr(0, count);
        begin_ += count;
        return taken;
    }

    Stream& from_;
    std::size_t capacity_; // bytes
    std::unique_ptr<std::byte[]> memory_;
    std::size_t begin_ = 0; // of what was not read yet
    std::size_t end_ = 0;
};

} // namespace pitsaw::inline v0
