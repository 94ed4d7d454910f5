#include "tiny_task.hpp"

// named_task: the locals of a named task die with the task object. When a stop unwinds the parent, its later
// guards go first, so whatever the child holds outlives the guard that was taken to protect it.
pitsaw::task<> guard_between(pitsaw::mutex& m) {
    auto t = nothing();
    auto g = co_await m.lock(); // lint: named_task
    co_await std::move(t);
}
pitsaw::task<int> awaited_in_the_result(pitsaw::mutex& m) {
    auto t = five();
    auto g = co_await m.lock(); // lint: named_task
    co_return co_await std::move(t);
}
pitsaw::task<pitsaw::task<>> when_both(pitsaw::task<>&&, pitsaw::task<int>&&);
pitsaw::task<> awaited_in_a_combinator(pitsaw::mutex& m) {
    pitsaw::task<> a = nothing();
    auto g = co_await m.lock(); // lint: named_task
    auto b = five();
    co_await when_both(std::move(a), std::move(b));
}
pitsaw::task<> guard_in_an_inner_block(pitsaw::mutex& m) {
    auto t = nothing();
    {
        auto g = co_await m.lock(); // lint: named_task
        co_await std::move(t);
    }
}

// Fine.
pitsaw::task<> guard_first(pitsaw::mutex& m) {
    auto g = co_await m.lock();
    auto t = nothing();
    co_await std::move(t);
}
pitsaw::task<> never_named(pitsaw::mutex& m) {
    auto g = co_await m.lock();
    co_await nothing();
}
pitsaw::task<> guard_closed_before(pitsaw::mutex& m) {
    auto t = nothing();
    {
        auto g = co_await m.lock();
    }
    co_await std::move(t);
}
pitsaw::task<> awaited_before(pitsaw::mutex& m) {
    auto t = nothing();
    co_await std::move(t);
    auto g = co_await m.lock();
    co_await nothing();
}
pitsaw::task<> the_task_gives_the_guard(pitsaw::mutex& m) {
    auto t = m.lock();
    auto g = co_await std::move(t);
    co_await nothing();
}
