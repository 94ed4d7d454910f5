#pragma once
#include <pitsaw/model/access.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <source_location>
#include <type_traits>

namespace pitsaw::inline v0::model {

/// `std::atomic` for a body that `explore` runs: every load may read each store that the order of memory
/// allows, and each access is a point where another thread may go first.
///
/// ```cpp
/// model::atomic<bool> is_ready = false;
/// is_ready.store(true, std::memory_order_release);
/// ```
/// The members it has are those of `std::atomic`; an alias of one's own names the one or the other. T is
/// trivially copyable, at most 8 bytes, and without padding (a comparison is one of bytes).
///
/// Lifetime: made and destroyed within one run of the body; a constant-initialised global has its first value
/// again in each run. Its use after its destruction, or by a thread that its construction does not happen
/// before, is reported. Threads: those of the model. Errors: none of its own. As large as T.
/// Source: [atomics.types.generic], [atomics.order] of C++23.
template <detail::modelled_value T> class atomic {
    using location = std::source_location;
    using memory_order = std::memory_order;
    static constexpr auto seq_cst = std::memory_order_seq_cst;

  public:
    using value_type = T;
    static constexpr bool is_always_lock_free = true;

    constexpr atomic() noexcept : atomic(T()) {}
    constexpr atomic(T initial) noexcept : value_(initial) {
        if (!std::is_constant_evaluated() && detail::is_exploring()) detail::made(place({}));
    }
    atomic(atomic const&) = delete;
    atomic& operator=(atomic const&) = delete;
    constexpr ~atomic() {
        if (!std::is_constant_evaluated() && detail::is_exploring()) detail::gone(this);
    }

    [[nodiscard]] auto load(memory_order order = seq_cst, location where = location::current()) const noexcept
        -> T {
        if (!detail::is_exploring()) return value_;
        return detail::from_word<T>(detail::load(place(where), order));
    }
    void store(T value, memory_order order = seq_cst, location where = location::current()) noexcept {
        if (detail::is_exploring())
            detail::store(place(where), detail::to_word(value), order);
        else
            value_ = value;
    }
    auto exchange(T value, memory_order order = seq_cst, location where = location::current()) noexcept -> T {
        return modify<replace>(value, order, where);
    }

    auto compare_exchange_strong(T& expected, T desired, memory_order order = seq_cst,
                                 location where = location::current()) noexcept -> bool {
        return compare(expected, desired, {order, on_failure(order), false}, where);
    }
    auto compare_exchange_strong(T& expected, T desired, memory_order success, memory_order failure,
                                 location where = location::current()) noexcept -> bool {
        return compare(expected, desired, {success, failure, false}, where);
    }
    auto compare_exchange_weak(T& expected, T desired, memory_order order = seq_cst,
                               location where = location::current()) noexcept -> bool {
        return compare(expected, desired, {order, on_failure(order), true}, where);
    }
    auto compare_exchange_weak(T& expected, T desired, memory_order success, memory_order failure,
                               location where = location::current()) noexcept -> bool {
        return compare(expected, desired, {success, failure, true}, where);
    }

    auto fetch_add(T operand, memory_order order = seq_cst, location where = location::current()) noexcept
        -> T
        requires(std::integral<T> && !std::same_as<T, bool>)
    {
        return modify<add>(operand, order, where);
    }
    auto fetch_sub(T operand, memory_order order = seq_cst, location where = location::current()) noexcept
        -> T
        requires(std::integral<T> && !std::same_as<T, bool>)
    {
        return modify<subtract>(operand, order, where);
    }
    auto fetch_and(T operand, memory_order order = seq_cst, location where = location::current()) noexcept
        -> T
        requires(std::integral<T> && !std::same_as<T, bool>)
    {
        return modify<both>(operand, order, where);
    }
    auto fetch_or(T operand, memory_order order = seq_cst, location where = location::current()) noexcept -> T
        requires(std::integral<T> && !std::same_as<T, bool>)
    {
        return modify<either>(operand, order, where);
    }

    /// Blocks until notified with another value; for ever, if the notification is lost, which is reported.
    void wait(T old, memory_order order = seq_cst, location where = location::current()) const noexcept {
        if (detail::is_exploring()) detail::wait(place(where), detail::to_word(old), order);
    }
    void notify_one(location where = location::current()) noexcept {
        if (detail::is_exploring()) detail::notify(place(where), false);
    }
    void notify_all(location where = location::current()) noexcept {
        if (detail::is_exploring()) detail::notify(place(where), true);
    }

    operator T() const noexcept { return load(); }
    auto operator=(T value) noexcept -> T {
        store(value);
        return value;
    }
    auto operator++() noexcept -> T { return static_cast<T>(fetch_add(T(1)) + T(1)); }
    auto operator--() noexcept -> T { return static_cast<T>(fetch_sub(T(1)) - T(1)); }
    auto operator++(int) noexcept -> T { return fetch_add(T(1)); }
    auto operator--(int) noexcept -> T { return fetch_sub(T(1)); }
    auto operator+=(T operand) noexcept -> T { return static_cast<T>(fetch_add(operand) + operand); }
    auto operator-=(T operand) noexcept -> T { return static_cast<T>(fetch_sub(operand) - operand); }
    auto operator|=(T operand) noexcept -> T { return static_cast<T>(fetch_or(operand) | operand); }
    auto operator&=(T operand) noexcept -> T { return static_cast<T>(fetch_and(operand) & operand); }

  private:
    using word = detail::word;

    // The arithmetic of T, with the wrap that std::atomic promises for signed ones too.
    static auto replace(word, word operand) -> word { return operand; }
    static auto add(word old, word operand) -> word { return cut(old + operand); }
    static auto subtract(word old, word operand) -> word { return cut(old - operand); }
    static auto both(word old, word operand) -> word { return old & operand; }
    static auto either(word old, word operand) -> word { return old | operand; }
    static constexpr auto cut(word value) -> word {
        return sizeof(T) == sizeof(word) ? value : value & ((word(1) << (8 * sizeof(T) % 64)) - 1);
    }

    static constexpr auto on_failure(memory_order order) -> memory_order {
        if (order == std::memory_order_acq_rel) return std::memory_order_acquire;
        return order == std::memory_order_release ? std::memory_order_relaxed : order;
    }

    [[nodiscard]] auto place(location where) const noexcept -> detail::place {
        return {this, &detail::atomic_traits<T>, detail::to_word(value_), where};
    }

    template <word (*Change)(word, word)> auto modify(T operand, memory_order order, location where) -> T {
        auto const bytes = detail::to_word(operand);
        if (detail::is_exploring())
            return detail::from_word<T>(detail::modify(place(where), Change, bytes, order));
        auto const old = value_;
        value_ = detail::from_word<T>(Change(detail::to_word(old), bytes));
        return old;
    }

    auto compare(T& expected, T desired, detail::exchange_orders orders, location where) noexcept -> bool {
        auto bytes = detail::to_word(expected);
        if (detail::is_exploring()) {
            if (detail::compare_exchange(place(where), bytes, detail::to_word(desired), orders)) return true;
            expected = detail::from_word<T>(bytes);
            return false;
        }
        bool const is_same = detail::to_word(value_) == bytes;
        (is_same ? value_ : expected) = is_same ? desired : value_;
        return is_same;
    }

    T value_; // what it was made with; within `explore` the checker keeps the values
};

/// `std::atomic_thread_fence` for the model.
inline void thread_fence(std::memory_order order,
                         std::source_location where = std::source_location::current()) noexcept {
    if (detail::is_exploring()) detail::fence(order, where);
}

} // namespace pitsaw::inline v0::model
