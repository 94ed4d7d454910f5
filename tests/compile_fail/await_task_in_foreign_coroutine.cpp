// expect: no (matching|viable) .*await_suspend
#include <pitsaw/task/in.hpp>
#include <pitsaw/task/task.hpp>

#include <coroutine>
#include <utility>

struct foreign {
    struct promise_type {
        foreign get_return_object() const noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept {}
    };
};

pitsaw::task<> work() { co_return; }

foreign await_ours(pitsaw::environment env) {
#ifdef PITSAW_COMPILE_FAIL
    (void)env;
    co_await work();
#else
    co_await pitsaw::in(env, work());
#endif
}
