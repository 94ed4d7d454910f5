#pragma once
#if !defined(__cpp_impl_coroutine) || __cplusplus < 202100L
#error "pitsaw needs C++23 with coroutines: compile with -std=c++23"
#endif
/// Everything of pitsaw that needs no dependency. `sim` has its own header and target.
#include <pitsaw/scope/portal.hpp>
#include <pitsaw/scope/shield.hpp>
#include <pitsaw/scope/task_group.hpp>
#include <pitsaw/scope/when_all.hpp>
#include <pitsaw/scope/when_any.hpp>
#include <pitsaw/scope/with.hpp>
#include <pitsaw/scope/with_deadline.hpp>
#include <pitsaw/scope/with_environment.hpp>
#include <pitsaw/scope/with_executor.hpp>
#include <pitsaw/task/as_outcome.hpp>
#include <pitsaw/task/async_generator.hpp>
#include <pitsaw/task/at_exit.hpp>
#include <pitsaw/task/generator.hpp>
#include <pitsaw/task/in.hpp>
#include <pitsaw/task/or_return.hpp>
#include <pitsaw/task/sync_wait.hpp>
#include <pitsaw/task/task.hpp>
#include <pitsaw/task/this_task.hpp>
#include <pitsaw/time/interval.hpp>
#include <pitsaw/time/sleep.hpp>
