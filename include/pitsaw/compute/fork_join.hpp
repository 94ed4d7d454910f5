#pragma once
#include <pitsaw/base/check.hpp>
#include <pitsaw/compute/computation.hpp>
#include <pitsaw/executor/compute_lane.hpp>
#include <pitsaw/task/result_slot.hpp>

#include <array>
#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace pitsaw::inline v0 {

/// Waits for several computations, of which others may run what comes after the first.
template <class... Ts> class [[nodiscard]] fork_join_awaiter final : fork_point {
  public:
    explicit fork_join_awaiter(computation<Ts>&... forked) noexcept
        : fork_join_awaiter(std::index_sequence_for<Ts...>(), forked.release()...) {}
    ~fork_join_awaiter() {
        for (std::uint32_t i = 0; i < sizeof...(Ts); ++i)
            if (!has_begun(i)) children_[i]->handle().destroy();
    }

    [[nodiscard]] std::coroutine_handle<> begin(fork_child& waiting) noexcept { return start(waiting); }
    auto await_resume() {
        rethrow_failure();
        return std::apply([](auto&... each) { return std::tuple<decltype(taken(each))...>(taken(each)...); },
                          results_);
    }

  private:
    template <std::size_t... Number>
    fork_join_awaiter(std::index_sequence<Number...>, computation_promise<Ts>&... children) noexcept
        : fork_point(child, sizeof...(Ts)), children_{&children...} {
        (children.leave_result_in(std::get<Number>(results_)), ...);
    }

    static fork_child* child(fork_point& self, std::uint32_t const number) noexcept {
        return static_cast<fork_join_awaiter&>(self).children_[number];
    }

    template <class T> static decltype(auto) taken(computed<T>& from) {
        if constexpr (std::is_void_v<T>)
            return std::monostate();
        else
            return from.take();
    }

    std::array<fork_child*, sizeof...(Ts)> children_; ///< each destroys itself when it has begun
    std::tuple<computed<Ts>...> results_;
};

/// The same for a number of them that are made one by one, each by who begins it.
template <class F, class T> class [[nodiscard]] fork_join_each_awaiter final : fork_point {
    static constexpr bool has_results = !std::is_void_v<T>;

  public:
    fork_join_each_awaiter(std::uint32_t const count, F&& make)
        : fork_point(child, count), make_(std::forward<F>(make)) {
        if constexpr (has_results) results_ = std::make_unique<computed<T>[]>(count);
        count_ = count;
    }

    [[nodiscard]] std::coroutine_handle<> begin(fork_child& waiting) noexcept { return start(waiting); }
    auto await_resume() {
        rethrow_failure();
        if constexpr (has_results) {
            std::vector<T> all;
            all.reserve(count_);
            for (std::uint32_t i = 0; i < count_; ++i) all.push_back(results_[i].take());
            return all;
        }
    }

  private:
    static fork_child* child(fork_point& self, std::uint32_t const number) noexcept {
        auto& mine = static_cast<fork_join_each_awaiter&>(self);
        try {
            auto& promise = mine.make_(number).release();
            if constexpr (has_results) promise.leave_result_in(mine.results_[number]);
            return &promise;
        } catch (...) {
            self.fail(std::current_exception());
            return nullptr;
        }
    }

    F make_;
    std::uint32_t count_;
    std::conditional_t<has_results, std::unique_ptr<computed<T>[]>, std::monostate> results_;
};

/// Runs computations side by side, where other workers have nothing to do, and waits for all of them.
///
/// ```cpp
/// auto both = co_await ps::fork_join(fib(n - 1), fib(n - 2));
/// auto& [a, b] = both;
/// std::vector<long> sums = co_await ps::fork_join(10, [&](std::size_t i) { return sum_of(parts[i]); });
/// ```
/// The first begins at once, on this worker. What comes after it may be taken by a worker that has nothing
/// to do; where none has, the second begins when the first has ended, and so on, in the order of the
/// source. In the second form `make(i)` makes child `i` when it begins, on the worker that runs it, so that
/// a million of them need no more frames than run at a time.
///
/// To fork and to join are one expression, so that no way out of the block, as an exception is, can lead
/// past the join while a child writes to a local of the block.
///
/// Returns the results in the order of the children, `std::monostate` for void, in a tuple; in the second
/// form in a vector, or nothing. Lifetime: awaited in place. Threads: comes back on any worker. Errors: the
/// first exception, when those that have begun have ended; no more of them begin behind it. std::bad_alloc
/// and std::length_error (more than 2^32 - 1 children) at once. Stopping: the computation's.
template <class... Ts> [[nodiscard]] auto fork_join(computation<Ts>... forked) {
    return fork_join_awaiter<Ts...>(forked...);
}

template <std::integral Count, class F>
    requires is_computation<std::invoke_result_t<F&, std::size_t>>
[[nodiscard]] auto fork_join(Count const count, F&& make) {
    if (!std::in_range<std::uint32_t>(count))
        throw std::length_error("fork_join: more than 2^32 - 1 children");
    using result = typename std::invoke_result_t<F&, std::size_t>::value_type;
    return fork_join_each_awaiter<F, result>(static_cast<std::uint32_t>(count), std::forward<F>(make));
}

} // namespace pitsaw::inline v0
