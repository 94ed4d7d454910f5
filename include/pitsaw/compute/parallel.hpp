#pragma once
#include <pitsaw/compute/computation.hpp>
#include <pitsaw/compute/fork_join.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <ranges>
#include <type_traits>
#include <utility>

namespace pitsaw::inline v0 {

namespace detail {

/// How many numbers are from `first` to before `last`, which is not below it; right where I overflows.
template <std::integral I>
[[nodiscard]] constexpr std::uint64_t distance(I const first, I const last) noexcept {
    return static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first);
}
template <std::integral I> [[nodiscard]] constexpr I middle(I const first, I const last) noexcept {
    return static_cast<I>(static_cast<std::uint64_t>(first) + distance(first, last) / 2);
}

/// How many steps are one part where the user does not say: so many parts that they can be shared out among
/// many workers, and no part so long that the worker's other tasks would wait for it if a step is short.
inline constexpr std::uint64_t parts_wanted = 512;
inline constexpr std::uint64_t steps_max = 4096;
[[nodiscard]] constexpr std::uint64_t steps_of_part(std::uint64_t const steps,
                                                    std::uint64_t const grain) noexcept {
    return grain != 0 ? grain : std::clamp<std::uint64_t>(steps / parts_wanted, 1, steps_max);
}

template <class I, class F>
computation<> for_part(I const first, I const last, std::uint64_t const grain, F* const step) {
    if (distance(first, last) > grain) {
        auto const half = middle(first, last);
        co_await fork_join(for_part(first, half, grain, step), for_part(half, last, grain, step));
        co_return;
    }
    for (I i = first; i != last; ++i) {
        if constexpr (is_computation<std::invoke_result_t<F&, I>>)
            co_await std::invoke(*step, i);
        else
            std::invoke(*step, i);
    }
}

template <class T, class I, class Map, class Combine>
computation<T> reduced_part(I const first, I const last, std::uint64_t const grain, Map* const map,
                            Combine* const combine) {
    if (distance(first, last) > grain) {
        auto const half = middle(first, last);
        auto both = co_await fork_join(reduced_part<T>(first, half, grain, map, combine),
                                       reduced_part<T>(half, last, grain, map, combine));
        auto& [left, right] = both;
        co_return std::invoke(*combine, std::move(left), std::move(right));
    }
    T sum = std::invoke(*map, first);
    for (I i = first + 1; i != last; ++i) sum = std::invoke(*combine, std::move(sum), std::invoke(*map, i));
    co_return sum;
}

} // namespace detail

/// Calls `step(i)` for each number from `first` to before `last`, in parts that run side by side.
///
/// ```cpp
/// co_await ps::compute(ps::parallel_for(0, image.height(), [&](int y) { blur_row(image, y); }));
/// ```
/// A part is a sequence of at most `grain` steps, on one worker, between which that worker sees to nothing
/// else. With 0 there are some 512 parts, of at most 4,096 steps: say less where a step takes more than
/// some 10 µs. A step may be a computation, which is awaited.
///
/// Lifetime: owns `step`, one object for all, so calls of it may be at the same time. Threads: any worker.
/// Errors: the first exception; no more parts begin behind it. Stopping: between parts.
template <std::integral I, class F>
    requires std::invocable<F&, I>
[[nodiscard]] computation<> parallel_for(I const first, I const last, F step, std::uint64_t const grain = 0) {
    if (first >= last) co_return;
    auto const steps = detail::steps_of_part(detail::distance(first, last), grain);
    co_await detail::for_part(first, last, steps, &step);
}

/// The same for each element of a range, which is referred to.
template <std::ranges::random_access_range R, class F>
    requires std::ranges::sized_range<R> && std::invocable<F&, std::ranges::range_reference_t<R>>
[[nodiscard]] computation<> parallel_for(R& range, F step, std::uint64_t const grain = 0) {
    auto const begin = std::ranges::begin(range);
    auto const of_element = [&](std::int64_t const i) -> decltype(auto) {
        return std::invoke(step, begin[static_cast<std::ranges::range_difference_t<R>>(i)]);
    };
    co_await parallel_for(std::int64_t{0}, static_cast<std::int64_t>(std::ranges::size(range)), of_element,
                          grain);
}

/// Combines `map(i)` of each number from `first` to before `last`, in parts that run side by side;
/// `identity` where there is none.
///
/// ```cpp
/// double sum = co_await ps::compute(ps::parallel_reduce(
///     0, n, 0.0, [&](int i) { return x[i] * y[i]; }, std::plus()));
/// ```
/// `combine` has to be associative, and need not be commutative: neighbours are combined, left to right.
/// The parts are the same in each run, so a sum of floating point numbers is, too. The rest as
/// `parallel_for`.
template <std::integral I, class T, class Map, class Combine>
    requires std::convertible_to<std::invoke_result_t<Map&, I>, T> &&
             std::convertible_to<std::invoke_result_t<Combine&, T, T>, T>
[[nodiscard]] computation<T> parallel_reduce(I const first, I const last, T identity, Map map,
                                             Combine combine, std::uint64_t const grain = 0) {
    if (first >= last) co_return identity;
    auto const steps = detail::steps_of_part(detail::distance(first, last), grain);
    co_return co_await detail::reduced_part<T>(first, last, steps, &map, &combine);
}

} // namespace pitsaw::inline v0
