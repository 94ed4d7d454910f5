#pragma once
#include <pitsaw/scope/task_group.hpp>
#include <pitsaw/sim/world.hpp>
#include <pitsaw/task/as_outcome.hpp>
#include <pitsaw/task/task.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <utility>

namespace pitsaw::inline v0::sim {

/// How one run of a harness's body ended. An `io_result` that holds an error is a value.
enum class run_ending : std::uint8_t { value, exception, stopped };

namespace detail {

/// One run of a body: where it happens, and what a harness may stop in it.
struct run_place {
    sim::world& world;
    bool is_in_a_group = false;  ///< the body is to run in a task group of its own
    task_group* group = nullptr; ///< that group, while it is there
};

/// Runs `work` as the body of a group that the harness can stop without stopping the runtime.
template <class T> task<run_ending> run_in_a_group(task<T> work, task_group*& shown) {
    auto how = run_ending::value;
    auto const body = [&work, &shown, &how](task_group& group) -> task<> {
        shown = &group;
        auto const end = co_await as_outcome(std::move(work));
        shown = nullptr;
        if (end.is_stopped()) how = run_ending::stopped;
        if (end.has_exception()) how = run_ending::exception;
    };
    co_await task_group::run(body);
    co_return how;
}

} // namespace detail

/// Makes and runs a body once.
using run_body = std::function<run_ending(detail::run_place&)>;

/// `body` as a harness runs it: one that throws before there is a task has thrown all the same.
template <class F> [[nodiscard]] run_body make_run_body(F& body) {
    return [&body](detail::run_place& in) {
        auto const how = [](auto const& end) {
            if (end.is_stopped()) return run_ending::stopped;
            return end.has_exception() ? run_ending::exception : run_ending::value;
        };
        auto const make = [&] {
            if constexpr (std::invocable<F&, world&>)
                return body(in.world);
            else
                return body();
        };
        try {
            if (!in.is_in_a_group) return how(in.world.run(make()));
            auto const end = in.world.run(detail::run_in_a_group(make(), in.group));
            return end.has_value() ? end.value() : how(end);
        } catch (...) {
            return run_ending::exception;
        }
    };
}

} // namespace pitsaw::inline v0::sim
