// The code of docs/guide/embedding.md; docs.snippets compares.
#include <pitsaw/pitsaw.hpp>
#include <pitsaw/sim/check_faults.hpp>
#include <pitsaw/sim/check_stop.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <coroutine>
#include <thread>

namespace ps = pitsaw;
using namespace std::chrono_literals;

namespace {

ps::task<int> answer() {
    co_await ps::sleep(1s);
    co_return 42;
}

int from_plain_code() {
    ps::outcome<int> end = ps::sync_wait(answer());
    if (end.is_stopped()) return -1;
    return end.value(); // rethrows what the task threw
}

TEST(embedding_guide, plain_code_waits_for_a_task) { EXPECT_EQ(from_plain_code(), 42); }

// Completes on a thread of its own.
class answer_from_a_thread {
  public:
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiting) {
        thread_ = std::jthread([waiting] { waiting.resume(); });
    }
    std::thread::id await_resume() const noexcept { return thread_.get_id(); }

  private:
    std::jthread thread_;
};

ps::task<bool> comes_back() {
    answer_from_a_thread foreign;
    auto const worker = std::this_thread::get_id();
    auto const other = co_await foreign;
    if (other == worker) co_return false; // not in this program
    co_return std::this_thread::get_id() == worker;
}

TEST(embedding_guide, a_foreign_awaitable_comes_back_to_the_worker) {
    EXPECT_TRUE(ps::sync_wait(comes_back()).value());
}

ps::task<> use_one(ps::sim::book& connections) {
    ps::sim::counted<int> const connection(connections, 7); // taken until its destructor has run
    co_await ps::sleep(1ms);
}

bool is_right() {
    ps::sim::book connections("connections");
    auto const body = [&] { return use_one(connections); };
    ps::sim::check_stop_options stops;
    ps::sim::check_faults_options faults;
    stops.books = faults.books = {&connections};
    return ps::sim::check_stop(body, stops) && ps::sim::check_faults(body, faults);
}

TEST(embedding_guide, harnesses_count_what_is_the_users) { EXPECT_TRUE(is_right()); }

} // namespace
