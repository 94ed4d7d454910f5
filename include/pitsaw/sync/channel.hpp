#pragma once
#include <pitsaw/base/ring.hpp>
#include <pitsaw/sync/wait_queue.hpp>

#include <coroutine>
#include <cstddef>
#include <expected>
#include <mutex>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>

namespace pitsaw::inline v0 {

template <class T> class channel;

/// Why a message was not sent, and the message: it comes back to who wanted to send it.
///
/// ```cpp
/// auto const sent = co_await jobs.send(job(7));
/// if (!sent) keep(*std::move(sent.error().message));
/// ```
/// Lifetime: a value. Threads: one at a time. Errors: `why` is `broken_pipe` where the channel is closed,
/// `resource_unavailable_try_again` where a `try_send` finds it full; under `with_timeout` it may be
/// `timed_out`, and there is no message then: it went with the wait.
template <class T> struct unsent {
    explicit(false) unsent(std::error_code reason) noexcept : why(reason) {}
    unsent(std::errc reason, T&& returned) noexcept
        : why(std::make_error_code(reason)), message(std::move(returned)) {}

    explicit(false) operator std::error_code() const noexcept { return why; }

    std::error_code why;
    std::optional<T> message;
};

/// A place in a channel that is kept for one message: sending into it waits for nothing and is not refused.
///
/// ```cpp
/// if (auto place = co_await jobs.reserve()) place.send(take_next(list)); // nothing was taken before
/// ```
/// Lifetime: the channel outlives it; unused, the place is free again when it goes. Threads: one at a time.
/// Errors: sending without a place, or twice, is a failed check. 8 bytes.
template <class T> class [[nodiscard]] channel_place {
  public:
    channel_place() = default;
    channel_place(channel_place&& from) noexcept : of_(std::exchange(from.of_, nullptr)) {}
    channel_place& operator=(channel_place&& from) noexcept {
        if (this != &from) {
            release();
            of_ = std::exchange(from.of_, nullptr);
        }
        return *this;
    }
    ~channel_place() { release(); }

    /// Whether there is one: none after `close`, and none once it is used.
    [[nodiscard]] explicit operator bool() const noexcept { return of_ != nullptr; }

    /// Sends `message`, also if the channel has been closed since the place was given.
    void send(T message) noexcept {
        check(of_ != nullptr, "there is no place to send into: it is used, or the channel was closed");
        std::exchange(of_, nullptr)->fill_place(std::move(message));
    }

    /// Gives the place to another.
    void release() noexcept {
        if (of_ != nullptr) std::exchange(of_, nullptr)->free_place();
    }

  private:
    friend class channel<T>;
    explicit channel_place(channel<T>& of) noexcept : of_(&of) {}

    channel<T>* of_ = nullptr;
};

/// A bounded queue of messages between tasks: many send, many receive, each message goes to one.
///
/// ```cpp
/// ps::channel<job> jobs(64);
/// co_await jobs.send(job(1));                        // waits while 64 are in it
/// while (auto next = co_await jobs.receive()) work(*next);
/// jobs.close();                                      // receivers get what is in it, then nothing
/// ```
/// Messages of one sender arrive in its order; senders and receivers are served first come, first served.
/// Lifetime: it outlives its waits (a failed check); messages that nobody received go with it. Threads: any.
/// Errors: std::bad_alloc from the constructor; a capacity of 0 is a failed check; a message that was not
/// taken because of `close` comes back. T moves without throwing, within a few instructions, for it moves
/// under a spin lock. Stopping: leaves. A stopped receive that had been given a message delivers it; the
/// message of a stopped send is sent or goes with its frame. Who wants to keep it uses `reserve`. Waiting
/// allocates nothing; the places for messages are allocated once.
template <class T> class channel : wait_lock {
    class entering;

  public:
    explicit channel(std::size_t capacity) : messages_(capacity) {
        check(capacity != 0, "a channel has room for at least one message");
    }
    channel(channel&&) = delete;

  private:
    /// Somebody who wants in: with a message, or to have a place kept.
    class entering : public queued_waiter {
      protected:
        explicit entering(channel& to) noexcept : queued_waiter(to), to_(to) {}

        [[nodiscard]] std::coroutine_handle<> enter(promise_header& header) noexcept {
            wake_list woken;
            return this->wait_unless(header, to_.senders_, [&] {
                if (to_.is_closed_) return true;
                if (!to_.senders_.empty() || to_.is_full()) return false;
                to_.let_in(*this, woken);
                return true;
            });
        }

        channel& to_;
        std::optional<T> message_; ///< what a send brings; empty once it is in
        bool has_place_ = false;   ///< what a reservation gets

      private:
        friend class channel;
    };

  public:
    class [[nodiscard]] send_awaiter : entering {
      public:
        send_awaiter(channel& to, T&& message) noexcept : entering(to) {
            this->message_.emplace(std::move(message));
        }
        [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept {
            return this->enter(header);
        }
        [[nodiscard]] std::expected<void, unsent<T>> await_resume() noexcept {
            if (!this->message_.has_value()) return {};
            return std::unexpected(unsent<T>(std::errc::broken_pipe, *std::move(this->message_)));
        }
    };

    class [[nodiscard]] reserve_awaiter : entering {
      public:
        explicit reserve_awaiter(channel& to) noexcept : entering(to) {}
        [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept {
            return this->enter(header);
        }
        [[nodiscard]] channel_place<T> await_resume() noexcept {
            return this->has_place_ ? channel_place<T>(this->to_) : channel_place<T>();
        }
    };

    class [[nodiscard]] receive_awaiter : queued_waiter {
      public:
        explicit receive_awaiter(channel& from) noexcept : queued_waiter(from), from_(from) {}

        [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept {
            wake_list woken;
            return wait_unless(header, from_.receivers_, [&] {
                if (from_.messages_.empty()) return from_.is_over();
                message_.emplace(from_.take(woken));
                return true;
            });
        }
        [[nodiscard]] std::optional<T> await_resume() noexcept { return std::move(message_); }

      private:
        friend class channel;

        channel& from_;
        std::optional<T> message_;
    };

    /// Sends `message`, once there is room; gives `std::expected<void, unsent<T>>`: an
    /// error, with the message, if the channel is closed.
    [[nodiscard]] send_awaiter send(T message) noexcept { return send_awaiter(*this, std::move(message)); }

    /// Receives a message, once there is one; gives `std::optional<T>`: nothing, when it is closed and empty.
    [[nodiscard]] receive_awaiter receive() noexcept { return receive_awaiter(*this); }

    /// Waits for room; gives a `channel_place`, which is empty if the channel was closed.
    [[nodiscard]] reserve_awaiter reserve() noexcept { return reserve_awaiter(*this); }

    /// Sends if there is room.
    [[nodiscard]] std::expected<void, unsent<T>> try_send(T message) noexcept {
        wake_list woken;
        std::scoped_lock const held(guard);
        if (is_closed_ || is_full()) {
            auto const why = is_closed_ ? std::errc::broken_pipe : std::errc::resource_unavailable_try_again;
            return std::unexpected(unsent<T>(why, std::move(message)));
        }
        deliver(std::move(message), woken);
        return {};
    }

    /// Receives if there is a message.
    [[nodiscard]] std::optional<T> try_receive() noexcept {
        wake_list woken;
        std::scoped_lock const held(guard);
        if (messages_.empty()) return std::nullopt;
        return take(woken);
    }

    /// No more is sent: who waits to send gets its message back, who receives gets what is in it and then
    /// nothing. Places that were given may still be filled. A second time nothing happens.
    void close() noexcept {
        wake_list woken;
        std::scoped_lock const held(guard);
        is_closed_ = true;
        senders_.grant_all(woken);
        if (is_over()) receivers_.grant_all(woken);
    }

    [[nodiscard]] bool is_closed() noexcept {
        std::scoped_lock const held(guard);
        return is_closed_;
    }

    /// How many messages are in it at this moment.
    [[nodiscard]] std::size_t size() noexcept {
        std::scoped_lock const held(guard);
        return messages_.size();
    }
    [[nodiscard]] std::size_t capacity() const noexcept { return messages_.capacity(); }

  private:
    friend class channel_place<T>;

    void fill_place(T message) noexcept {
        wake_list woken;
        std::scoped_lock const held(guard);
        deliver(std::move(message), woken);
        leave_place(woken);
    }

    void free_place() noexcept {
        wake_list woken;
        std::scoped_lock const held(guard);
        leave_place(woken);
    }

    // All below with the lock held. Receivers wait only while no message is there, senders only while it is
    // full or others wait before them.

    /// Not `messages_.is_full()`, for places are given away too.
    [[nodiscard]] bool is_full() const noexcept { return messages_.size() + places_ >= messages_.capacity(); }

    /// Nothing will ever be received.
    [[nodiscard]] bool is_over() const noexcept { return is_closed_ && places_ == 0 && messages_.empty(); }

    void deliver(T&& message, wake_list& woken) noexcept {
        if (receivers_.empty()) return messages_.push(std::move(message));
        static_cast<receive_awaiter&>(receivers_.front()).message_.emplace(std::move(message));
        receivers_.grant(woken);
    }

    [[nodiscard]] T take(wake_list& woken) noexcept {
        T first = messages_.pop();
        let_senders_in(woken);
        return first;
    }

    void let_in(entering& next, wake_list& woken) noexcept {
        if (!next.message_.has_value()) {
            places_ += 1;
            next.has_place_ = true;
            return;
        }
        deliver(*std::move(next.message_), woken);
        next.message_.reset();
    }

    void let_senders_in(wake_list& woken) noexcept {
        while (!senders_.empty() && !is_full()) {
            let_in(static_cast<entering&>(senders_.front()), woken);
            senders_.grant(woken);
        }
    }

    void leave_place(wake_list& woken) noexcept {
        places_ = places_ - 1;
        let_senders_in(woken);
        if (is_over()) receivers_.grant_all(woken);
    }

    wait_list senders_;
    wait_list receivers_;
    detail::guarded<std::size_t> places_ = 0; ///< given away and not used yet
    detail::guarded<bool> is_closed_ = false;
    ring<T> messages_;
};

} // namespace pitsaw::inline v0
