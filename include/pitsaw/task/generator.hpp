#pragma once
#include <pitsaw/base/check.hpp>
#include <pitsaw/task/frame_memory.hpp>

#include <coroutine>
#include <cstddef>
#include <exception>
#include <iterator>
#include <memory>
#include <ranges>
#include <type_traits>
#include <utility>

namespace pitsaw::inline v0 {

/// A synchronous coroutine as an input range: std::generator's subset that C++23's missing libraries allow.
///
/// ```cpp
/// ps::generator<int> up_to(int n) { for (int i = 0; i < n; ++i) co_yield i; }
/// for (int i : up_to(3)) use(i);
/// ```
/// Yields references to what the body yields (`T const&` of a lvalue it keeps, `T&&` of a temporary).
/// Lifetime: owns its frame; move-only; a yielded reference is valid until the next step. Threads: one at a
/// time. Errors: what the body throws leaves `begin()` or `++`. It cannot await. Single pass: `begin()` once.
template <class T> class [[nodiscard]] generator : public std::ranges::view_interface<generator<T>> {
    using reference = std::conditional_t<std::is_reference_v<T>, T, T&&>;
    using value_type = std::remove_cvref_t<T>;

  public:
    class promise_type : public recycled_frame {
      public:
        [[nodiscard]] generator get_return_object() noexcept {
            return generator(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
        [[nodiscard]] std::suspend_always final_suspend() const noexcept { return {}; }

        [[nodiscard]] std::suspend_always yield_value(reference value) noexcept {
            current_ = std::addressof(value);
            return {};
        }

        // An lvalue is copied, so that the consumer may move from what it gets.
        struct copied : std::suspend_always {
            copied(promise_type& promise, value_type const& from) : value(from) {
                promise.current_ = std::addressof(value);
            }
            copied(copied&&) = delete;
            value_type value;
        };
        [[nodiscard]] copied yield_value(value_type const& value)
            requires(!std::is_reference_v<T>)
        {
            return copied(*this, value);
        }

        void return_void() const noexcept {}
        void unhandled_exception() { failure_ = std::current_exception(); }
        template <class A> void await_transform(A&&) = delete; // it is synchronous

        void rethrow_failure() {
            if (failure_ != nullptr) [[unlikely]]
                std::rethrow_exception(std::exchange(failure_, nullptr));
        }
        [[nodiscard]] reference current() const noexcept { return static_cast<reference>(*current_); }

      private:
        std::add_pointer_t<reference> current_ = nullptr;
        std::exception_ptr failure_;
    };

    class iterator {
      public:
        using value_type = generator::value_type;
        using difference_type = std::ptrdiff_t;

        explicit iterator(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}
        iterator(iterator&& other) noexcept : frame_(std::exchange(other.frame_, {})) {}
        iterator& operator=(iterator&& other) noexcept {
            frame_ = std::exchange(other.frame_, {});
            return *this;
        }

        iterator& operator++() {
            step(frame_);
            return *this;
        }
        void operator++(int) { ++*this; }
        [[nodiscard]] reference operator*() const noexcept { return frame_.promise().current(); }
        [[nodiscard]] friend bool operator==(iterator const& at, std::default_sentinel_t) noexcept {
            return at.frame_.done();
        }

      private:
        std::coroutine_handle<promise_type> frame_;
    };

    generator(generator&& other) noexcept
        : frame_(std::exchange(other.frame_, {})), has_begun_(std::exchange(other.has_begun_, false)) {}
    generator& operator=(generator&& other) noexcept {
        generator taken(std::move(other));
        std::swap(frame_, taken.frame_);
        std::swap(has_begun_, taken.has_begun_);
        return *this;
    }
    ~generator() {
        if (frame_) frame_.destroy();
    }

    [[nodiscard]] iterator begin() {
        check(static_cast<bool>(frame_), "begin() of a moved-from generator");
        check(!std::exchange(has_begun_, true), "begin() of a generator twice: it is a single pass");
        step(frame_);
        return iterator(frame_);
    }
    [[nodiscard]] std::default_sentinel_t end() const noexcept { return std::default_sentinel; }

  private:
    explicit generator(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}

    static void step(std::coroutine_handle<promise_type> frame) {
        frame.resume();
        frame.promise().rethrow_failure();
    }

    std::coroutine_handle<promise_type> frame_;
    bool has_begun_ = false;
};

} // namespace pitsaw::inline v0
