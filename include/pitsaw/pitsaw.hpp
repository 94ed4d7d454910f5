#pragma once
#if !defined(__cpp_impl_coroutine) || __cplusplus < 202100L
#error "pitsaw needs C++23 with coroutines: compile with -std=c++23"
#endif
/// What programs use of pitsaw. Further headers of `io/`, for leaves of one's own, and `sim/`, which has a
/// target of its own, are included one by one.
#include <pitsaw/executor/stop_on_signals.hpp>
#include <pitsaw/io/any_stream.hpp>
#include <pitsaw/io/buffer_pool.hpp>
#include <pitsaw/io/buffered_reader.hpp>
#include <pitsaw/io/copy.hpp>
#include <pitsaw/io/readable.hpp>
#include <pitsaw/io/writable.hpp>
#include <pitsaw/io/write.hpp>
#include <pitsaw/net/address.hpp>
#include <pitsaw/net/endpoint.hpp>
#include <pitsaw/net/tcp_listener.hpp>
#include <pitsaw/net/tcp_stream.hpp>
#include <pitsaw/scope/on_each_worker.hpp>
#include <pitsaw/scope/portal.hpp>
#include <pitsaw/scope/shield.hpp>
#include <pitsaw/scope/strand.hpp>
#include <pitsaw/scope/task_group.hpp>
#include <pitsaw/scope/unconstrained.hpp>
#include <pitsaw/scope/when_all.hpp>
#include <pitsaw/scope/when_any.hpp>
#include <pitsaw/scope/with.hpp>
#include <pitsaw/scope/with_deadline.hpp>
#include <pitsaw/scope/with_environment.hpp>
#include <pitsaw/scope/with_executor.hpp>
#include <pitsaw/scope/with_name.hpp>
#include <pitsaw/scope/with_priority.hpp>
#include <pitsaw/sync/auto_reset_event.hpp>
#include <pitsaw/sync/barrier.hpp>
#include <pitsaw/sync/broadcast.hpp>
#include <pitsaw/sync/channel.hpp>
#include <pitsaw/sync/condition.hpp>
#include <pitsaw/sync/latch.hpp>
#include <pitsaw/sync/manual_reset_event.hpp>
#include <pitsaw/sync/mutex.hpp>
#include <pitsaw/sync/once.hpp>
#include <pitsaw/sync/oneshot.hpp>
#include <pitsaw/sync/semaphore.hpp>
#include <pitsaw/sync/shared_mutex.hpp>
#include <pitsaw/sync/watch.hpp>
#include <pitsaw/task/as_outcome.hpp>
#include <pitsaw/task/async_generator.hpp>
#include <pitsaw/task/at_exit.hpp>
#include <pitsaw/task/blocking.hpp>
#include <pitsaw/task/generator.hpp>
#include <pitsaw/task/in.hpp>
#include <pitsaw/task/or_return.hpp>
#include <pitsaw/task/sync_wait.hpp>
#include <pitsaw/task/task.hpp>
#include <pitsaw/task/this_task.hpp>
#include <pitsaw/time/interval.hpp>
#include <pitsaw/time/sleep.hpp>
