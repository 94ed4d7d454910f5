#pragma once
#include <pitsaw/sync/wait_queue.hpp>

#include <coroutine>
#include <cstdint>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

namespace pitsaw::inline v0 {

/// One value that changes, and tasks that want to know its newest: a configuration, a state. Values in
/// between may be passed over, the last one is always seen.
///
/// ```cpp
/// ps::watch<limits> current(limits{});
/// ps::watch<limits>::receiver mine(current);            // has seen the value of now
/// while (auto const next = co_await mine.next()) apply(*next);
/// ```
/// Lifetime: it outlives its receivers. Threads: any; a receiver one at a time. Errors: what copying a value
/// throws goes to who wanted it. A value is copied under a spin lock: watch small ones, or a
/// `std::shared_ptr` to a large one. Stopping: `next` is a leaf; a stopped one has seen nothing.
template <class T> class watch : wait_lock {
    static_assert(std::is_copy_constructible_v<T> && std::is_nothrow_swappable_v<T>,
                  "every receiver gets a copy, and a value takes the place of another");

  public:
    explicit watch(T value) : value_(std::move(value)) {}
    watch(watch&&) = delete;

    void set(T value) noexcept {
        wake_list woken;
        // The old value is in `value` then, and goes when the lock is free.
        std::scoped_lock const held(guard);
        using std::swap;
        swap(value_, value);
        version_ += 1;
        receivers_.grant_all(woken);
    }

    [[nodiscard]] T get() const {
        std::scoped_lock const held(guard);
        return value_;
    }

    /// Receivers get the last value if they have not seen it, and then nothing.
    void close() noexcept {
        wake_list woken;
        std::scoped_lock const held(guard);
        is_closed_ = true;
        receivers_.grant_all(woken);
    }

    /// One that watches; what the value is when it is made counts as seen.
    ///
    /// ```cpp
    /// ps::watch<limits>::receiver mine(current);
    /// ```
    /// Lifetime: the watch outlives it. Threads, errors, stopping: those of the watch. 16 bytes.
    class receiver {
      public:
        explicit receiver(watch& of) noexcept : of_(of) {
            std::scoped_lock const held(of_.guard);
            seen_ = of_.version_;
        }
        receiver(receiver&&) = delete;

        class [[nodiscard]] next_awaiter : queued_waiter {
          public:
            explicit next_awaiter(receiver& by) noexcept : queued_waiter(by.of_), by_(by) {}

            [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept {
                auto& of = by_.of_;
                return wait_unless(header, of.receivers_,
                                   [&] { return by_.seen_ != of.version_ || of.is_closed_; });
            }
            [[nodiscard]] std::optional<T> await_resume() { return by_.take(); }

          private:
            receiver& by_;
        };

        /// Waits for a value that this receiver has not seen; gives `std::optional<T>`: the newest, or
        /// nothing if the watch is closed.
        [[nodiscard]] next_awaiter next() noexcept { return next_awaiter(*this); }

      private:
        friend class next_awaiter;

        std::optional<T> take() {
            std::scoped_lock const held(of_.guard);
            if (seen_ == of_.version_) return std::nullopt;
            std::optional<T> newest(of_.value_);
            seen_ = of_.version_;
            return newest;
        }

        watch& of_;
        std::uint64_t seen_ = 0;
    };

  private:
    wait_list receivers_;
    T value_;                                    // guard, as the two below
    detail::guarded<std::uint64_t> version_ = 0; ///< how often it has been set
    detail::guarded<bool> is_closed_ = false;
};

} // namespace pitsaw::inline v0
