#pragma once
#include <pitsaw/stop/inplace_stop_token.hpp>
#include <pitsaw/task/result_slot.hpp>

#include <cstddef>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>

namespace pitsaw::inline v0 {

/// An ending as data: a value, an exception, or "stopped" with its reason.
///
/// ```cpp
/// ps::outcome<int> end = co_await ps::as_outcome(job());
/// if (end.is_stopped()) log(end.reason());
/// else use(end.value());                       // rethrows what the job threw
/// ```
/// Lifetime: owns the value; of a reference, refers to the same object. Threads: a plain value. Errors:
/// `value()` rethrows the exception, and is a checked error after a stop, for there is nothing to return.
template <class T> class [[nodiscard]] outcome {
  public:
    using value_type = void_as_monostate<T>;

  private:
    static constexpr bool is_reference = std::is_reference_v<T>;
    using stored = std::conditional_t<is_reference, std::add_pointer_t<T>, value_type>;

  public:
    [[nodiscard]] static outcome stopped(stop_reason why) noexcept {
        return outcome(std::in_place_index<0>, why);
    }
    [[nodiscard]] static outcome failed(std::exception_ptr what) noexcept {
        return outcome(std::in_place_index<2>, std::move(what));
    }
    template <class U> [[nodiscard]] static outcome completed(U&& value) {
        if constexpr (is_reference)
            return outcome(std::in_place_index<1>, std::addressof(value));
        else
            return outcome(std::in_place_index<1>, std::forward<U>(value));
    }

    [[nodiscard]] bool has_value() const noexcept { return ending_.index() == 1; }
    [[nodiscard]] bool has_exception() const noexcept { return ending_.index() == 2; }
    [[nodiscard]] bool is_stopped() const noexcept { return ending_.index() == 0; }

    [[nodiscard]] value_type& value() & {
        throw_or_check();
        if constexpr (is_reference)
            return **std::get_if<1>(&ending_);
        else
            return *std::get_if<1>(&ending_);
    }
    [[nodiscard]] value_type const& value() const& { return const_cast<outcome*>(this)->value(); }
    [[nodiscard]] value_type&& value() && { return static_cast<value_type&&>(value()); }

    /// What the task threw; null if it did not.
    [[nodiscard]] std::exception_ptr exception() const noexcept {
        return has_exception() ? *std::get_if<2>(&ending_) : nullptr;
    }

    /// Why it stopped; `none` if it did not.
    [[nodiscard]] stop_reason reason() const noexcept {
        return is_stopped() ? *std::get_if<0>(&ending_) : stop_reason::none;
    }

  private:
    template <std::size_t Index, class U>
    outcome(std::in_place_index_t<Index> which, U&& value) : ending_(which, std::forward<U>(value)) {}

    void throw_or_check() const {
        if (has_exception()) std::rethrow_exception(*std::get_if<2>(&ending_));
        check(has_value(), "outcome::value() of a task that was stopped: ask is_stopped() first");
    }

    std::variant<stop_reason, stored, std::exception_ptr> ending_;
};

} // namespace pitsaw::inline v0
