#pragma once
#include <pitsaw/sync/wait_queue.hpp>

#include <coroutine>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

namespace pitsaw::inline v0 {

/// One message from one task to another, or the news that it will never come.
///
/// ```cpp
/// ps::oneshot<int> answer;
/// group.spawn(compute(answer.open_sender()));
/// if (auto const got = co_await answer.receive()) use(*got);  // nothing: the sender went without sending
/// ```
/// Lifetime: it outlives its sender and its waits (a failed check). Threads: any. Errors: a second sender is
/// a failed check. T moves without throwing, under a spin lock. Stopping: `receive` is a leaf; a message that
/// was given to a stopped one is delivered. No allocation.
template <class T> class oneshot : wait_lock {
    static_assert(std::is_nothrow_move_constructible_v<T>, "a message that moves is not to be lost");

  public:
    oneshot() noexcept = default;
    oneshot(oneshot&&) = delete;
    ~oneshot() { check(!has_sender_, "a oneshot is destroyed before its sender"); }

    /// Sends once; if it goes before that, whoever receives is told.
    ///
    /// ```cpp
    /// ps::task<> compute(ps::oneshot<int>::sender to) { to.send(co_await sum()); }
    /// ```
    /// Lifetime: the oneshot outlives it. Threads: one at a time; it may go to another. Errors: sending twice
    /// is a failed check. 8 bytes.
    class [[nodiscard]] sender {
      public:
        sender(sender&& from) noexcept : to_(std::exchange(from.to_, nullptr)) {}
        sender& operator=(sender&& from) noexcept {
            std::swap(to_, from.to_);
            return *this;
        }
        ~sender() {
            if (to_ != nullptr) to_->end(std::nullopt);
        }

        void send(T message) noexcept {
            check(to_ != nullptr, "a oneshot is sent once: its sender has sent, or was moved from");
            std::exchange(to_, nullptr)->end(std::move(message));
        }

      private:
        friend class oneshot;
        explicit sender(oneshot& to) noexcept : to_(&to) {}

        oneshot* to_;
    };

    /// The one that sends; once.
    [[nodiscard]] sender open_sender() noexcept {
        std::scoped_lock const held(guard);
        check(!has_sender_ && !is_over_, "a oneshot has one sender");
        has_sender_ = true;
        return sender(*this);
    }

    class [[nodiscard]] receive_awaiter : queued_waiter {
      public:
        explicit receive_awaiter(oneshot& from) noexcept : queued_waiter(from), from_(from) {}

        [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept {
            return wait_unless(header, from_.receivers_,
                               [this] { return static_cast<bool>(from_.is_over_); });
        }
        [[nodiscard]] std::optional<T> await_resume() noexcept {
            std::scoped_lock const held(from_.guard);
            std::optional<T> taken = std::move(from_.message_);
            from_.message_.reset();
            return taken;
        }

      private:
        oneshot& from_;
    };

    /// Waits for the message; gives `std::optional<T>`: nothing if the sender went without one, or if
    /// somebody has it already.
    [[nodiscard]] receive_awaiter receive() noexcept { return receive_awaiter(*this); }

  private:
    void end(std::optional<T> message) noexcept {
        wake_list woken;
        std::scoped_lock const held(guard);
        if (message.has_value()) message_.emplace(*std::move(message));
        is_over_ = true;
        has_sender_ = false;
        receivers_.grant_all(woken);
    }

    wait_list receivers_;
    std::optional<T> message_; // guard, as the two below
    detail::guarded<bool> has_sender_ = false;
    detail::guarded<bool> is_over_ = false;
};

} // namespace pitsaw::inline v0
