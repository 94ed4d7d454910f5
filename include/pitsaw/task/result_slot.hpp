#pragma once
#include <pitsaw/base/check.hpp>

#include <cstdint>
#include <exception>
#include <expected>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>

namespace pitsaw::inline v0 {

/// `void` as a type that has values.
template <class T> using void_as_monostate = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

/// Whether T is a `std::expected`, whose error a scope counts as a failure.
template <class T> inline constexpr bool is_expected = false;
template <class T, class E> inline constexpr bool is_expected<std::expected<T, E>> = true;

/// Where a coroutine or a leaf leaves what it ended with: nothing yet, a value or an exception.
///
/// A tagged union rather than a variant: its tag is read at each destruction of a task, to tell a frame that
/// was stopped midway from one that ended.
template <class T> class result_slot {
    enum class holds : std::uint8_t { nothing, value, exception };
    using stored =
        std::conditional_t<std::is_reference_v<T>, std::remove_reference_t<T>*, void_as_monostate<T>>;

  public:
    result_slot() noexcept {}
    result_slot(result_slot&&) = delete;
    ~result_slot() {
        if (holds_ == holds::value) std::destroy_at(&value_);
        if (holds_ == holds::exception) std::destroy_at(&exception_);
    }

    template <class... Args> void set_value(Args&&... args) {
        if constexpr (std::is_reference_v<T>)
            ::new (static_cast<void*>(&value_)) stored(std::addressof(args)...);
        else
            ::new (static_cast<void*>(&value_)) stored(std::forward<Args>(args)...);
        holds_ = holds::value;
    }

    /// A `co_return` whose conversion or whose locals' destruction threw leaves the exception, not the value.
    void set_exception(std::exception_ptr what) noexcept {
        if (holds_ == holds::value) std::destroy_at(&value_);
        if (holds_ == holds::exception) std::destroy_at(&exception_);
        ::new (static_cast<void*>(&exception_)) std::exception_ptr(std::move(what));
        holds_ = holds::exception;
    }

    /// As `set_value`, in an ending: what a conversion or a move throws is left instead.
    template <class... Args> void set_value_or_exception(Args&&... args) noexcept {
        try {
            set_value(std::forward<Args>(args)...);
        } catch (...) {
            set_exception(std::current_exception());
        }
    }

    [[nodiscard]] bool is_empty() const noexcept { return holds_ == holds::nothing; }
    [[nodiscard]] bool has_value() const noexcept { return holds_ == holds::value; }
    [[nodiscard]] bool has_exception() const noexcept { return holds_ == holds::exception; }

    /// Moves the value out, or rethrows.
    T take() {
        if (holds_ != holds::value) [[unlikely]]
            rethrow();
        if constexpr (std::is_reference_v<T>)
            return static_cast<T>(*value_);
        else if constexpr (!std::is_void_v<T>)
            return std::move(value_);
    }

    [[nodiscard]] stored& value() noexcept { return value_; }
    [[nodiscard]] std::exception_ptr exception() const noexcept {
        return holds_ == holds::exception ? exception_ : nullptr;
    }

    /// Whether a scope counts this ending as a failure: an exception, or an expected that holds an error.
    [[nodiscard]] bool is_failure() const noexcept {
        if (holds_ == holds::exception) return true;
        if constexpr (is_expected<T>) return holds_ == holds::value && !value_.has_value();
        return false;
    }

  private:
    [[noreturn, gnu::noinline, gnu::cold]] void rethrow() const {
        check(holds_ == holds::exception, "a result was asked for before its task had ended");
        std::rethrow_exception(exception_);
    }

    union {
        stored value_;
        std::exception_ptr exception_;
    };
    holds holds_ = holds::nothing;
};

} // namespace pitsaw::inline v0
