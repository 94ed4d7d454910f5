#pragma once
#include <pitsaw/base/check.hpp>
#include <pitsaw/task/at_exit.hpp>
#include <pitsaw/task/await_transform.hpp>
#include <pitsaw/task/boundary.hpp>
#include <pitsaw/task/frame_memory.hpp>
#include <pitsaw/task/task.hpp>

#include <concepts>
#include <coroutine>
#include <exception>
#include <optional>
#include <source_location>
#include <system_error>
#include <type_traits>
#include <utility>

namespace pitsaw::inline v0 {

template <class T> class async_generator;

/// The promise of an asynchronous generator, and the boundary between its body and whoever asks for a value.
template <class T>
class async_generator_promise : public promise_header, public recycled_frame, public inner_boundary {
  public:
    using result_type = void; // or_return cannot end it with an error: it throws

    async_generator_promise() noexcept : inner_boundary(body_ended) {}

    // At each yield and at the end the consumer goes on, with the generator suspended.
    struct to_consumer {
        [[nodiscard]] bool await_ready() const noexcept { return false; }
        [[nodiscard]] std::coroutine_handle<>
        await_suspend(std::coroutine_handle<async_generator_promise> body) const noexcept {
            body.promise().is_awaited_ = false;
            return body.promise().leave();
        }
        void await_resume() const noexcept {}
    };

    [[nodiscard]] async_generator<T> get_return_object() noexcept;
    [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
    [[nodiscard]] to_consumer final_suspend() noexcept {
        is_over_ = true;
        return {};
    }
    template <class U = T>
        requires std::constructible_from<T, U>
    [[nodiscard]] to_consumer yield_value(U&& value) noexcept(std::is_nothrow_constructible_v<T, U>) {
        value_.emplace(std::forward<U>(value));
        return {};
    }
    void return_void() const noexcept {}
    void unhandled_exception() noexcept { failure_ = std::current_exception(); }

    template <class A>
    [[nodiscard]] auto await_transform(A&& work,
                                       std::source_location where = std::source_location::current()) {
        static_assert(
            !std::same_as<std::remove_cvref_t<A>, cleanup_registration>,
            "at_exit inside an async_generator: it may be dropped between two values, where nobody could "
            "await the clean-up; put it into the consumer, or own the resource outside");
        promise_header::awaiting = where;
        return awaiter_for(*this, std::forward<A>(work));
    }

    [[nodiscard]] std::coroutine_handle<> resume_for(promise_header& consumer) noexcept {
        static_assert(alignof(async_generator_promise) <= continuation::frame_prefix,
                      "an over-aligned value cannot live in a coroutine frame: yield a pointer to it");
        if (is_over_ && !is_stopped_) return transfer(consumer);
        if (consumer.env->stop.stop_requested()) return consumer.stop_here(); // a body may never wait
        if (is_stopped_) {
            failure_ = std::make_exception_ptr(
                std::system_error(std::make_error_code(std::errc::operation_canceled),
                                  "next() of an async_generator that a stop has ended"));
            return transfer(consumer);
        }
        check(!std::exchange(is_awaited_, true), "next() while another next() of the generator is awaited");
        enter(consumer);
        begin_chain(*this, *consumer.env, &consumer);
        return transfer(*this);
    }

    [[nodiscard]] std::optional<T> take() {
        if (failure_ != nullptr) [[unlikely]]
            std::rethrow_exception(std::exchange(failure_, nullptr));
        return std::exchange(value_, std::nullopt);
    }

    /// A stop has left it in the middle of an await.
    [[nodiscard]] bool is_suspended_midway() const noexcept { return is_stopped_; }

  private:
    static std::coroutine_handle<> body_ended(boundary& edge, promise_header&, ending) noexcept {
        auto& self = static_cast<async_generator_promise&>(edge);
        self.is_stopped_ = self.is_over_ = true; // values and exceptions come through to_consumer
        return self.leave_stopped();
    }

    std::optional<T> value_;
    std::exception_ptr failure_;
    bool is_over_ = false;
    bool is_stopped_ = false;
    bool is_awaited_ = false;
};

/// An asynchronous sequence: a coroutine that awaits and yields, and moves only while somebody asks for a
/// value.
///
/// ```cpp
/// ps::async_generator<line> lines(stream& from) {
///     while (auto l = co_await next_line(from)) co_yield std::move(*l);
/// }
/// auto all = lines(from);
/// while (auto line = co_await all.next()) use(*line);
/// ```
/// Lifetime: owns its frame; it must not be destroyed while `next()` is awaited. Destroyed between two values
/// its locals are destroyed there and then, without asynchronous clean-up, which is why `at_exit` does not
/// compile in it. Threads: the consumer's worker; one `next()` at a time. Errors: what the body throws leaves
/// that `next()`; afterwards it is over. Stopping: a boundary: the consumer's stop reaches the body's leaf;
/// the body is then over, and the consumer stops; who asks again all the same, having put a timeout around
/// `next()`, gets a std::system_error (operation_canceled), for what is missing is no end. What the body
/// knows of its environment is the consumer's of that `next()`, so it keeps none of it across a `co_yield`.
template <class T> class [[nodiscard]] async_generator {
    static_assert(!std::is_reference_v<T> && !std::is_void_v<T>, "an async_generator yields objects");

  public:
    using promise_type = async_generator_promise<T>;

    async_generator(async_generator&& other) noexcept : frame_(std::exchange(other.frame_, {})) {}
    async_generator& operator=(async_generator&& other) noexcept {
        async_generator old(std::exchange(frame_, std::exchange(other.frame_, {})));
        return *this;
    }
    ~async_generator() {
        if (!frame_) return;
        bool const is_stopped = frame_.promise().is_suspended_midway();
        if (is_stopped) begin_unwinding();
        frame_.destroy();
        if (is_stopped) end_unwinding();
    }

    class [[nodiscard]] next_awaiter {
      public:
        explicit next_awaiter(promise_type& from) noexcept : from_(from) {}

        [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept {
            return from_.resume_for(header);
        }
        std::optional<T> await_resume() { return from_.take(); }

      private:
        promise_type& from_;
    };

    /// The next value, or nullopt when the body has ended.
    [[nodiscard]] next_awaiter next() noexcept {
        check(static_cast<bool>(frame_), "next() of a moved-from async_generator");
        return next_awaiter(frame_.promise());
    }

  private:
    friend promise_type;
    explicit async_generator(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}

    std::coroutine_handle<promise_type> frame_;
};

template <class T> async_generator<T> async_generator_promise<T>::get_return_object() noexcept {
    return async_generator<T>(std::coroutine_handle<async_generator_promise>::from_promise(*this));
}

} // namespace pitsaw::inline v0
