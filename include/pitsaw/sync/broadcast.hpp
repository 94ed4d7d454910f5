#pragma once
#include <pitsaw/base/ring.hpp>
#include <pitsaw/sync/wait_queue.hpp>

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <mutex>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>

namespace pitsaw::inline v0 {

/// Why a receiver of a `broadcast` has no message.
///
/// ```cpp
/// if (!next && next.error().missed != 0) reload();
/// ```
/// Lifetime: a value. `why` is `broken_pipe` at the end, `message_size` where messages were missed, and
/// `timed_out` under a `with_timeout` that fired.
struct broadcast_loss {
    explicit(false) broadcast_loss(std::error_code reason) noexcept : why(reason) {}
    explicit broadcast_loss(std::uint64_t count) noexcept
        : why(std::make_error_code(std::errc::message_size)), missed(count) {}

    explicit(false) operator std::error_code() const noexcept { return why; }

    /// The broadcast was closed, and this receiver has had all.
    [[nodiscard]] bool is_end() const noexcept { return why == std::errc::broken_pipe; }

    std::error_code why;
    std::uint64_t missed =
        0; ///< messages that were overwritten before this receiver had them; it goes on behind
};

/// Every message to every receiver. Who sends does not wait; a receiver that falls behind by more than the
/// capacity loses the oldest messages, and is told exactly how many.
///
/// ```cpp
/// ps::broadcast<price> prices(256);
/// ps::broadcast<price>::receiver mine(prices);        // gets what is sent from here on
/// auto const next = co_await mine.receive();           // std::expected<price, broadcast_loss>
/// if (!next && !next.error().is_end()) reload();       // next.error().missed were lost
/// ```
/// Lifetime: it outlives its receivers. Threads: any; a receiver one at a time. Errors: std::bad_alloc from
/// the constructor; a capacity of 0 is a failed check; what copying a message throws goes to that receiver,
/// whose next receive gets it again. A message is copied under a spin lock: broadcast small ones, or a
/// `std::shared_ptr` to a large one. Stopping: `receive` is a leaf; a stopped one has taken nothing.
template <class T> class broadcast : wait_lock {
    static_assert(std::is_copy_constructible_v<T>, "every receiver gets a copy");

  public:
    explicit broadcast(std::size_t capacity) : latest_(capacity) {
        check(capacity != 0, "a broadcast keeps at least one message");
    }
    broadcast(broadcast&&) = delete;

    /// To all receivers that there are; nobody is an audience too. After `close` it goes nowhere.
    void send(T message) noexcept {
        std::optional<T> oldest; // goes when the lock is free
        wake_list woken;
        std::scoped_lock const held(guard);
        if (is_closed_) return;
        if (latest_.is_full()) oldest.emplace(latest_.pop());
        latest_.push(std::move(message));
        sent_ += 1;
        receivers_.grant_all(woken);
    }

    /// Receivers get what they have not had yet, and then the end.
    void close() noexcept {
        wake_list woken;
        std::scoped_lock const held(guard);
        is_closed_ = true;
        receivers_.grant_all(woken);
    }

    /// One that listens, from when it is made.
    ///
    /// ```cpp
    /// ps::broadcast<price>::receiver mine(prices);
    /// ```
    /// Lifetime: the broadcast outlives it. Threads, errors, stopping: those of the broadcast. 16 bytes.
    class receiver {
      public:
        explicit receiver(broadcast& from) noexcept : from_(from) {
            std::scoped_lock const held(from_.guard);
            next_ = from_.sent_;
        }
        receiver(receiver&&) = delete;

        class [[nodiscard]] receive_awaiter : queued_waiter {
          public:
            explicit receive_awaiter(receiver& by) noexcept : queued_waiter(by.from_), by_(by) {}

            [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept {
                auto& from = by_.from_;
                return wait_unless(header, from.receivers_,
                                   [&] { return by_.next_ != from.sent_ || from.is_closed_; });
            }
            [[nodiscard]] std::expected<T, broadcast_loss> await_resume() { return by_.take(); }

          private:
            receiver& by_;
        };

        /// Waits for the next message; gives `std::expected<T, broadcast_loss>`.
        [[nodiscard]] receive_awaiter receive() noexcept { return receive_awaiter(*this); }

      private:
        friend class receive_awaiter;

        std::expected<T, broadcast_loss> take() {
            std::scoped_lock const held(from_.guard);
            auto const oldest = from_.sent_ - from_.latest_.size();
            if (next_ < oldest) return std::unexpected(broadcast_loss(oldest - std::exchange(next_, oldest)));
            if (next_ == from_.sent_)
                return std::unexpected(broadcast_loss(std::make_error_code(std::errc::broken_pipe)));
            std::expected<T, broadcast_loss> copy(from_.latest_.at(next_ - oldest));
            ++next_;
            return copy;
        }

        broadcast& from_;
        std::uint64_t next_ = 0; ///< the number of the message that it has not had yet
    };

  private:
    wait_list receivers_;
    detail::guarded<std::uint64_t> sent_ = 0; // guard, as the two below
    detail::guarded<bool> is_closed_ = false;
    ring<T> latest_;
};

} // namespace pitsaw::inline v0
