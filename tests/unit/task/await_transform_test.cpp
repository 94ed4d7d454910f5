#include <pitsaw/task/await_transform.hpp>

#include <pitsaw/task/at_exit.hpp>
#include <pitsaw/task/sync_wait.hpp>
#include <pitsaw/task/task.hpp>
#include <pitsaw/task/this_task.hpp>
#include <pitsaw/time/sleep.hpp>

#include <gtest/gtest.h>

#include <coroutine>
#include <type_traits>

namespace {

using namespace pitsaw;

static_assert(is_task<task<int>> && !is_task<sleep_awaiter>);
static_assert(startable<sleep_awaiter> && startable<yield_awaiter> && !startable<task<>>);
static_assert(!startable<std::suspend_never>);
static_assert(bound_to_its_coroutine<cleanup_registration, task_promise<int>>);
static_assert(bound_to_its_coroutine<get_environment_awaiter, task_promise<int>>);
static_assert(!bound_to_its_coroutine<sleep_awaiter, task_promise<int>>);

// An immovable leaf that knows its address: GCC 12.2 copies awaiters that arrive by reference.
class stays_in_place {
  public:
    stays_in_place() : self_(this) {}
    stays_in_place(stays_in_place&&) = delete;
    [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept {
        is_in_place_ = self_ == this;
        header.env->executor->ready.push(header);
        return std::noop_coroutine();
    }
    bool await_resume() const noexcept { return is_in_place_ && self_ == this; }

  private:
    stays_in_place* self_;
    bool is_in_place_ = false;
};
task<bool> await_in_place() {
    bool const as_a_temporary = co_await stays_in_place();
    stays_in_place named;
    bool const as_a_local = co_await std::move(named);
    co_return as_a_temporary&& as_a_local;
}

TEST(await_transform, leaves_an_operation_where_it_is) { EXPECT_TRUE(sync_wait(await_in_place()).value()); }

class refers {
  public:
    explicit refers(int& object) : object_(object) {}
    [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept { return transfer(header); }
    int& await_resume() const noexcept { return object_; }

  private:
    int& object_;
};
task<int*> await_a_reference(int& object) {
    int& same = co_await refers(object);
    co_return &same;
}

TEST(await_transform, passes_a_reference_on) {
    int object = 0;
    EXPECT_EQ(sync_wait(await_a_reference(object)).value(), &object);
}

} // namespace
