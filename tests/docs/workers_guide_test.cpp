// The code of docs/guide/workers.md; docs.snippets compares.
#include "workers.hpp"

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace ps = pitsaw;
using namespace std::chrono_literals;

namespace {

ps::task<std::size_t> count_words(std::string text) {
    std::size_t words = 0;
    for (std::size_t at = 0; (at = text.find_first_not_of(' ', at)) != std::string::npos; ++words)
        at = text.find(' ', at);
    co_return words;
}

ps::task<std::size_t> count_elsewhere(std::string text) {
    auto const all = (co_await ps::this_task::get_environment()).executor.workers();
    co_return co_await ps::with_executor(*all.back(), count_words, std::move(text));
}

TEST(workers_guide, a_subtree_runs_elsewhere) {
    ps::runtime_options options;
    options.workers = 2; // this thread, and one more
    ps::runtime rt(options);
    auto const words = ps::sync_wait(rt, count_elsewhere("three short words"));
    EXPECT_EQ(words.value(), 3u);
}

ps::task<> index_all(std::vector<std::string> texts, std::atomic<std::size_t>& words) {
    auto const all = (co_await ps::this_task::get_environment()).executor.workers();
    auto index = [&words](std::string text) -> ps::task<> { words += co_await count_words(std::move(text)); };
    auto body = [&](ps::task_group& group) -> ps::task<> {
        std::size_t next = 0;
        for (auto& text : texts) group.spawn_on(*all[next++ % all.size()], index, std::move(text));
        co_return;
    };
    co_await ps::task_group::run(body);
}

TEST(workers_guide, children_are_placed) {
    ps::runtime rt(ps::testing::workers(3));
    std::atomic<std::size_t> words = 0;
    EXPECT_TRUE(
        ps::sync_wait(rt, index_all({"one", "two words", "and now three", "one"}, words)).has_value());
    EXPECT_EQ(words, 7u);
}

ps::task<ps::io_result<void>> echo(ps::tcp_stream peer) {
    for (;;) {
        auto const chunk = co_await ps::or_return(peer.receive());
        if (chunk.empty()) co_return {};
        co_await ps::or_return(peer.send_all(chunk));
    }
}

ps::task<ps::io_result<void>> serve(ps::endpoint at) {
    ps::tcp_listener_options shared;
    shared.reuse_port = true; // the kernel spreads the connections
    auto listens = [=](std::uint32_t) -> ps::task<ps::io_result<void>> {
        auto listener = co_await ps::or_return(ps::tcp_listener::bind(at, shared));
        auto accepts = [&](ps::task_group& clients) -> ps::task<ps::io_result<void>> {
            for (;;) clients.spawn(echo(co_await ps::or_return(listener.accept())));
        };
        co_return co_await ps::task_group::run(ps::on_failure::keep_others, accepts);
    };
    co_return co_await ps::on_each_worker(listens);
}

ps::task<ps::io_result<void>> serve_from_one(ps::endpoint at) {
    auto listener = co_await ps::or_return(ps::tcp_listener::bind(at));
    auto accepts = [&](ps::task_group& clients) -> ps::task<ps::io_result<void>> {
        for (;;) clients.spawn_anywhere(echo, co_await ps::or_return(listener.accept()));
    };
    co_return co_await ps::task_group::run(ps::on_failure::keep_others, accepts);
}

ps::task<std::string> says(ps::endpoint to, std::string_view what) {
    for (;;) { // the listeners may not be there yet
        auto peer = co_await ps::tcp_stream::connect(to);
        if (!peer.has_value()) {
            co_await ps::sleep(1ms);
            continue;
        }
        (void)co_await peer->send_all(std::as_bytes(std::span(what)));
        auto const chunk = co_await peer->receive();
        if (!chunk.has_value()) co_return "";
        co_return std::string(reinterpret_cast<char const*>(chunk->bytes().data()), chunk->size());
    }
}

// A world of the simulated driver has one worker; several with a port in common need a kernel.
void expect_an_echo_from(ps::task<ps::io_result<void>> (*serves)(ps::endpoint)) {
    ps::runtime rt(ps::testing::workers(1));
    auto const at = ps::endpoint::loopback(4711);
    std::string heard;
    auto work = [&]() -> ps::task<> {
        auto body = [&](ps::task_group& group) -> ps::task<> {
            group.spawn(serves, at);
            heard = co_await says(at, "hello");
            group.request_stop();
        };
        co_await ps::task_group::run(body);
    };
    EXPECT_TRUE(ps::sync_wait(rt, work()).has_value());
    EXPECT_EQ(heard, "hello");
}

TEST(workers_guide, a_server_has_a_listener_on_each_worker) { expect_an_echo_from(serve); }

TEST(workers_guide, a_server_has_one_listener_for_all_workers) { expect_an_echo_from(serve_from_one); }

class ledger {
  public:
    explicit ledger(ps::executor_ref kept_on) : turns_(kept_on) {}

    /// From any worker.
    ps::task<int> add(int amount) {
        auto const step = [this, amount]() -> ps::task<int> {
            int const before = sum_;
            co_await ps::this_task::yield(); // others of this worker run; no other `add` does
            co_return sum_ = before + amount;
        };
        co_return co_await turns_.run(step);
    }

  private:
    ps::strand turns_;
    int sum_ = 0; // no lock: the strand's worker only
};

TEST(workers_guide, a_strand_keeps_a_ledger) {
    ps::runtime rt(ps::testing::workers(3));
    ledger books(rt.get_executor(1));
    auto adds = [&](std::uint32_t) -> ps::task<> {
        for (int i = 0; i < 100; ++i) (void)co_await books.add(1);
    };
    auto work = [&]() -> ps::task<int> {
        co_await ps::on_each_worker(adds);
        co_return co_await books.add(0);
    };
    EXPECT_EQ(ps::sync_wait(rt, work()).value(), 300);
}

TEST(workers_guide, threads_have_names_and_processors) {
    // clang-format off
    ps::runtime_options options;
    options.workers = std::thread::hardware_concurrency();
    options.thread_name = "shop";   // shop-1, shop-2, ...
    options.cpus = {0};             // worker i on cpus[i % size]; empty: where the system likes
    options.on_thread_start = [](std::uint32_t worker) { (void)worker; /* priorities, licences, ... */ };
    // clang-format on
    ps::runtime const rt(options);
    EXPECT_GE(rt.worker_count(), 1u);
}

} // namespace
