#include <pitsaw/task/task.hpp>

#include <pitsaw/executor/runtime.hpp>
#include <pitsaw/task/sync_wait.hpp>
#include <pitsaw/task/this_task.hpp>

#include <gtest/gtest.h>

#include <coroutine>
#include <exception>

namespace {

using namespace pitsaw;

// CL3: a stop destroys a frame from inside its own await_suspend; GCC 15.2 touched the frame after that. The
// three forms of await_suspend, on the compiler at hand, without and with pitsaw; sanitizers look on.

struct counted {
    explicit counted(int& into) : gone(into) {}
    counted(counted&&) = delete;
    ~counted() { ++gone; }
    int& gone;
};

struct bare {
    struct promise_type {
        bare get_return_object() const noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
    };
};

struct destroys_and_returns_void {
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> self) const noexcept { self.destroy(); }
    void await_resume() const noexcept {}
};
struct destroys_and_returns_true {
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> self) const noexcept {
        self.destroy();
        return true;
    }
    void await_resume() const noexcept {}
};
struct destroys_and_returns_a_handle {
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> self) const noexcept {
        self.destroy();
        return std::noop_coroutine();
    }
    void await_resume() const noexcept {}
};

template <class Awaiter> bare await_destruction(int& gone, bool& went_on) {
    counted const local(gone);
    co_await Awaiter();
    went_on = true;
}

template <class Awaiter> void expect_destroyed_once() {
    int gone = 0;
    bool went_on = false;
    await_destruction<Awaiter>(gone, went_on);
    EXPECT_EQ(gone, 1);
    EXPECT_FALSE(went_on);
}

TEST(task_self_destruction, await_suspend_may_destroy_its_coroutine_in_each_form) {
    expect_destroyed_once<destroys_and_returns_void>();
    expect_destroyed_once<destroys_and_returns_true>();
    expect_destroyed_once<destroys_and_returns_a_handle>();
}

task<int> is_stopped_where_it_awaits(int& gone, bool& went_on) {
    counted const local(gone);
    co_await this_task::yield();
    went_on = true;
    co_return 1;
}
task<int> outer(int& gone, bool& went_on) {
    counted const local(gone);
    co_return co_await is_stopped_where_it_awaits(gone, went_on);
}

TEST(task_self_destruction, a_leaf_that_stops_at_once_ends_every_frame_from_inside_its_await) {
    runtime rt;
    rt.request_stop();
    int gone = 0;
    bool went_on = false;
    EXPECT_TRUE(sync_wait(rt, outer(gone, went_on)).is_stopped());
    EXPECT_EQ(gone, 2);
    EXPECT_FALSE(went_on);
}

} // namespace
