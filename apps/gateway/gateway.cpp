#include "gateway/gateway.hpp"

#include "gateway/front.hpp"

#include <pitsaw/scope/task_group.hpp>
#include <pitsaw/task/or_return.hpp>
#include <pitsaw/task/this_task.hpp>

#include <algorithm>
#include <cstddef>

namespace gateway {
namespace {

using result = pitsaw::task<pitsaw::io_result<void>>;

/// The share of one of so many workers; 0 stays 0, for the server's own limit.
std::uint32_t share_of(std::uint32_t const all, std::size_t const workers) noexcept {
    return all == 0 ? 0 : std::max<std::uint32_t>(1, all / static_cast<std::uint32_t>(workers));
}

result serve_front(shared_state& of, pitsaw::tcp_listener listener, std::uint32_t const connections_max) {
    front here(of); // its kept connections to providers end before its worker
    co_return co_await here.serve(std::move(listener), connections_max);
}

/// On another worker.
result listen_and_serve(shared_state* of, pitsaw::endpoint const at, std::uint32_t const connections_max) {
    pitsaw::tcp_listener_options shared;
    shared.reuse_port = true;
    auto listener = co_await pitsaw::or_return(pitsaw::tcp_listener::bind(at, shared));
    co_return co_await serve_front(*of, std::move(listener), connections_max);
}

} // namespace

result gateway_service::serve(pitsaw::tcp_listener listener) {
    pitsaw::environment const& env = co_await pitsaw::this_task::get_environment();
    auto const workers = env.executor.workers();
    auto const share = share_of(shared_.how.connections_max, workers.size());
    if (workers.size() == 1) co_return co_await serve_front(shared_, std::move(listener), share);
    auto const at = co_await pitsaw::or_return(listener.local_endpoint());
    auto const here = env.executor;
    auto const all = [&](pitsaw::task_group& fronts) -> result {
        for (auto* const each : workers)
            if (pitsaw::executor_ref(*each) != here)
                fronts.spawn_on(*each, listen_and_serve, &shared_, at, share);
        co_return co_await serve_front(shared_, std::move(listener), share);
    };
    co_return co_await pitsaw::task_group::run(all);
}

} // namespace gateway
