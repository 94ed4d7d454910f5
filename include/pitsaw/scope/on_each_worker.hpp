#pragma once
#include <pitsaw/executor/executor_ref.hpp>
#include <pitsaw/io/result.hpp>
#include <pitsaw/scope/task_group.hpp>
#include <pitsaw/task/task.hpp>
#include <pitsaw/task/this_task.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace pitsaw::inline v0 {

/// Runs `work(number)` on each worker of the runtime at the same time, and ends when all have: how a server
/// of `scheduling::per_core` is begun, with one listener for each.
///
/// ```cpp
/// auto listens = [at](std::uint32_t) -> ps::task<ps::io_result<void>> {
///     auto listener = co_await ps::or_return(ps::tcp_listener::bind(at, reuse));
///     ...
/// };
/// co_await ps::or_return(ps::on_each_worker(listens));
/// ```
/// Gives `io_result<void>` if `work` does, else nothing; values are dropped. `number` counts from 0.
/// Lifetime: each worker has a copy of `work`, which is destroyed there. Threads: `work` is called by several
/// at a time, the copies are its own. Errors: the first that fails stops the others and is the failure, as in
/// a `task_group`. Stopping: a boundary, as a task group.
template <class F>
    requires task_call<F, std::uint32_t> && std::copy_constructible<F>
[[nodiscard]] auto on_each_worker(F work)
    -> task<std::conditional_t<is_expected<typename std::invoke_result_t<F&, std::uint32_t>::value_type>,
                               io_result<void>, void>> {
    using value_type =
        std::conditional_t<is_expected<typename std::invoke_result_t<F&, std::uint32_t>::value_type>,
                           io_result<void>, void>;
    auto body = [&work](task_group& group) -> task<value_type> {
        environment const& here = co_await this_task::get_environment(); // GCC 12 wants its type said
        auto const all = here.executor.workers();
        std::uint32_t number = 0;
        for (auto* const each : all) group.spawn_on(*each, work, number++);
        if constexpr (!std::is_void_v<value_type>) co_return value_type();
    };
    co_return co_await task_group::run(body);
}

} // namespace pitsaw::inline v0
