#pragma once
#include <pitsaw/io/result.hpp>
#include <pitsaw/task/child.hpp>

#include <concepts>
#include <coroutine>
#include <expected>
#include <system_error>
#include <type_traits>
#include <utility>

namespace pitsaw::inline v0 {

/// Whether a coroutine with this promise can end with the error E as its value.
template <class Promise, class E> inline constexpr bool carries_error = false;
template <class Promise, class E>
    requires is_expected<typename Promise::result_type>
inline constexpr bool carries_error<Promise, E> =
    std::is_constructible_v<typename Promise::result_type, std::unexpected<E>>;

/// The exception for a coroutine whose result cannot carry the error.
template <class E> [[noreturn]] void throw_error(E const& error) {
    if constexpr (std::same_as<E, std::error_code>)
        throw std::system_error(error);
    else
        throw std::bad_expected_access<E>(error);
}

template <class Expected> decltype(auto) value_or_throw(Expected&& result) {
    if (!result.has_value()) throw_error(result.error());
    return *std::forward<Expected>(result);
}

/// Awaits an expected that is there already.
template <class Expected, class Promise> class or_return_value_awaiter {
    using error_type = typename Expected::error_type;
    static constexpr bool carries = carries_error<Promise, error_type>;

  public:
    or_return_value_awaiter(Expected& result, Promise& promise) noexcept
        : result_(result), promise_(promise) {}

    [[nodiscard]] bool await_ready() const noexcept { return !carries || result_.has_value(); }

    [[nodiscard]] std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise>) const noexcept {
        auto how = ending::value;
        if constexpr (carries) {
            promise_.result.set_value_or_exception(std::unexpected(std::move(result_.error())));
            if (promise_.result.has_exception()) how = ending::exception;
        }
        return promise_.ended(how); // the coroutine is over and never resumed
    }

    typename Expected::value_type await_resume() const { return value_or_throw(std::move(result_)); }

  private:
    Expected& result_;
    Promise& promise_;
};

/// Awaits an operation whose result is an expected.
template <class A, class Promise> class or_return_awaiter : inner_boundary {
    using expected = child_value<A>;
    static constexpr bool carries = carries_error<Promise, typename expected::error_type>;

  public:
    explicit or_return_awaiter(A& awaited) : inner_boundary(ended), child_(awaited) {}

    [[nodiscard]] bool await_ready() const noexcept { return false; }

    [[nodiscard]] std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> outer_frame) noexcept {
        auto& header = outer_frame.promise();
        enter(header);
        return child_.start(*this, *header.env, header);
    }

    typename expected::value_type await_resume() { return value_or_throw(child_.result().take()); }

  private:
    static std::coroutine_handle<> ended(boundary& edge, promise_header&, ending const how) noexcept {
        auto& self = static_cast<or_return_awaiter&>(edge);
        if (how == ending::stopped) return self.leave_stopped();
        if (how == ending::value) self.child_.collect();
        if constexpr (carries) {
            auto& result = self.child_.result();
            if (result.has_value() && !result.value().has_value()) {
                auto& promise = static_cast<Promise&>(self.outer());
                promise.result.set_value_or_exception(std::unexpected(std::move(result.value().error())));
                promise.end_here();
                return std::noop_coroutine();
            }
        }
        return self.leave();
    }

    child<A> child_;
};

/// A leaf that tells of its error before it resumes the coroutine, so that it needs no boundary of its own.
/// `value()` gives what a result without an error holds.
template <class A>
concept tells_its_error = startable<A> && requires(A& leaf, error_ending end) {
    leaf.on_error(end);
    { leaf.value() } -> std::same_as<typename child_value<A>::value_type>;
};

/// Awaits such a leaf: one pointer, where `or_return_awaiter` takes 160 bytes.
template <class A, class Promise> class or_return_leaf_awaiter {
    static_assert(std::same_as<typename child_value<A>::error_type, std::error_code>);

  public:
    explicit or_return_leaf_awaiter(A& leaf) noexcept : leaf_(leaf) {}

    [[nodiscard]] bool await_ready() const noexcept { return false; }

    [[nodiscard]] std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> outer_frame) noexcept {
        leaf_.on_error(end);
        return leaf_.start(outer_frame.promise());
    }

    typename child_value<A>::value_type await_resume() { return leaf_.value(); }

  private:
    static void end(promise_header& header, std::error_code const error) noexcept {
        auto& promise = static_cast<Promise&>(header);
        promise.result.set_value_or_exception(std::unexpected(error));
        promise.end_here();
    }

    A& leaf_;
};

template <class Held> class [[nodiscard]] or_return_expression {
    using bare = std::remove_reference_t<Held>;

  public:
    explicit or_return_expression(Held&& held) : held_(static_cast<Held&&>(held)) {}
    or_return_expression(or_return_expression&&) = delete;

    template <class Promise> [[nodiscard]] auto await_in(Promise& promise) && {
        if constexpr (is_expected<bare>)
            return or_return_value_awaiter<bare, Promise>(held_, promise);
        else if constexpr (tells_its_error<bare> && carries_error<Promise, std::error_code>)
            return or_return_leaf_awaiter<bare, Promise>(held_);
        else
            return or_return_awaiter<bare, Promise>(held_);
    }

  private:
    Held held_; ///< an expected by value, an awaitable by reference
};

/// Unwraps an `io_result`, or ends this coroutine with its error: the `?` of other languages.
///
/// ```cpp
/// ps::task<ps::io_result<std::size_t>> copy_one(stream& from, stream& to) {
///     auto bytes = co_await ps::or_return(from.receive());     // an operation or task
///     co_await ps::or_return(check(bytes));                    // or a value
///     co_return bytes.size();
/// }
/// ```
/// Lifetime: an awaitable lives in the same full-expression, a value is moved in. On an error the coroutine's
/// clean-ups run and its locals die with the task object, at the end of the parent's full-expression. Errors:
/// in a coroutine whose result cannot carry the error it throws std::system_error (or
/// std::bad_expected_access for other errors). A `transfer_error` does not compile: its byte count would be
/// lost unseen; say `forget_progress(result)`. Stopping: adds none of its own.
template <class X> [[nodiscard]] auto or_return(X&& x [[clang::lifetimebound]]) {
    using bare = std::remove_cvref_t<X>;
    if constexpr (is_expected<bare>) {
        static_assert(
            !std::same_as<typename bare::error_type, transfer_error>,
            "or_return would lose how much was transferred: say or_return(forget_progress(result)), or "
            "look at the transfer_error");
        return or_return_expression<bare>(bare(std::forward<X>(x)));
    } else {
        static_assert(awaitable<X>, "or_return takes an expected, or an rvalue that can be awaited");
        using result = child_value<X>;
        static_assert(is_expected<result>,
                      "or_return takes what results in an expected; await this directly");
        if constexpr (is_expected<result>)
            static_assert(!std::same_as<typename result::error_type, transfer_error>,
                          "or_return would lose how much was transferred: await it, then "
                          "or_return(forget_progress(result)), or look at the transfer_error");
        return or_return_expression<bare&&>(std::move(x));
    }
}

} // namespace pitsaw::inline v0
