#pragma once
#include <pitsaw/io/readable.hpp>
#include <pitsaw/io/result.hpp>
#include <pitsaw/io/writable.hpp>
#include <pitsaw/task/task.hpp>

#include <cstddef>
#include <expected>
#include <memory>
#include <span>
#include <system_error>

namespace pitsaw::inline v0 {

/// Copies from one stream to another until the first ends, and holds what has been received and not sent.
///
/// ```cpp
/// ps::stream_copy upload(client, server);
/// auto done = co_await ps::with_timeout(30s, upload.run());    // run() again goes on where it stopped
/// ```
/// Lifetime: refers to both streams. Threads: their worker; one run at a time. Errors: of either side;
/// `broken_pipe` if a send takes nothing; `transferred()` counts on every ending. Stopping: loses no byte;
/// what was not sent yet is sent first by the next run. Sizes: 16 KiB of buffer unless said.
template <readable From, writable To> class stream_copy {
  public:
    static constexpr std::size_t usual_bytes = 16384;

    stream_copy(From& from, To& to, std::size_t capacity = usual_bytes)
        : from_(from), to_(to), capacity_(capacity), memory_(std::make_unique<std::byte[]>(capacity)) {}
    stream_copy(stream_copy&&) = delete;

    [[nodiscard]] task<io_result<void>> run() {
        for (;;) {
            while (begin_ < end_) {
                auto const went = co_await to_.send({memory_.get() + begin_, end_ - begin_});
                if (!went.has_value()) co_return std::unexpected(went.error());
                if (*went == 0) co_return std::unexpected(std::make_error_code(std::errc::broken_pipe));
                begin_ += *went;
                transferred_ += *went;
            }
            begin_ = end_ = 0;
            auto const got = co_await from_.receive({memory_.get(), capacity_});
            if (!got.has_value()) co_return std::unexpected(got.error());
            if (*got == 0) co_return io_result<void>();
            end_ = *got;
        }
    }

    /// Bytes that were sent.
    [[nodiscard]] std::size_t transferred() const noexcept { return transferred_; }

  private:
    From& from_;
    To& to_;
    std::size_t capacity_; // bytes
    std::unique_ptr<std::byte[]> memory_;
    std::size_t begin_ = 0; // of what was not sent yet
    std::size_t end_ = 0;
    std::size_t transferred_ = 0; // bytes
};

/// The same in one call, for who gives up on both streams if it does not end well: a stop loses what had been
/// received and not sent.
template <readable From, writable To>
task<std::expected<std::size_t, transfer_error>> copy(From& from, To& to) {
    stream_copy<From, To> work(from, to);
    auto const done = co_await work.run();
    if (!done.has_value()) {
        transfer_error const failed{done.error(), work.transferred()};
        co_return std::unexpected(failed);
    }
    co_return std::expected<std::size_t, transfer_error>(work.transferred());
}

} // namespace pitsaw::inline v0
