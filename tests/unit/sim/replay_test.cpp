#include <pitsaw/sim/replay.hpp>

#include "each_driver.hpp"

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

namespace pitsaw {
namespace {

using namespace std::chrono_literals;

auto options_that_hold(std::size_t input_bytes) -> runtime_options {
    runtime_options options;
    options.recorder.input_bytes = input_bytes;
    return options;
}

// ---- The program: it answers lines, and does not bear one that says "bad".

struct line_server {
    std::function<void(std::uint16_t)> on_port = [](std::uint16_t) {};
    std::string_view greeting = "hello\n";
    std::size_t clients_max = 1000;
    std::size_t lines = 0;

    auto serve_one(tcp_stream peer) -> task<io_result<void>> {
        co_await or_return(peer.send_all(std::as_bytes(std::span(greeting))));
        buffered_reader reader{peer};
        for (;;) {
            auto const line = co_await or_return(with_timeout(10s, reader.read_line()));
            check(line != "bad", "a line that the program does not bear");
            ++lines;
            std::string answer(line.rbegin(), line.rend());
            answer += '\n';
            co_await or_return(peer.send_all(std::as_bytes(std::span(answer))));
        }
    }

    auto serve() -> task<io_result<void>> {
        auto listener = co_await or_return(tcp_listener::bind(endpoint::loopback(0)));
        auto const at = co_await or_return(listener.local_endpoint());
        on_port(at.port());
        auto const accept_all = [&](task_group& clients) -> task<io_result<void>> {
            for (std::size_t i = 0; i < clients_max; ++i)
                clients.spawn(serve_one(co_await or_return(listener.accept())));
            co_return {};
        };
        co_return co_await task_group::run(on_failure::keep_others, accept_all);
    }
};

// ---- Processes, for a failed check ends one.

struct ended_process {
    int status = -1;
    std::string errors;
};

/// What `body` writes to standard error in a process of its own, while `meanwhile` runs here.
template <class Body, class Meanwhile> auto in_a_process(Body body, Meanwhile meanwhile) -> ended_process {
    int ends[2];
    if (::pipe(ends) != 0) return {};
    auto const child = ::fork();
    if (child == 0) {
        ::close(ends[0]);
        ::dup2(ends[1], 2);
        body();
        ::_exit(0);
    }
    ::close(ends[1]);
    meanwhile();
    ended_process made;
    std::array<char, 4096> some;
    for (ssize_t count = 0; (count = ::read(ends[0], some.data(), some.size())) > 0;)
        made.errors.append(some.data(), static_cast<std::size_t>(count));
    ::close(ends[0]);
    ::waitpid(child, &made.status, 0);
    return made;
}

/// A client with the system's own calls.
class plain_client {
  public:
    explicit plain_client(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(port);
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        is_there_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
    }
    plain_client(plain_client&&) = delete;
    ~plain_client() { ::close(fd_); }

    [[nodiscard]] bool is_there() const { return is_there_; }
    void say(std::string_view text) const { (void)!::write(fd_, text.data(), text.size()); }
    [[nodiscard]] auto line() const -> std::string { // empty: there is no more
        std::string text;
        for (char each = 0; ::read(fd_, &each, 1) == 1 && each != '\n';) text += each;
        return text;
    }

  private:
    int fd_;
    bool is_there_ = false;
};

class replay_of : public ::testing::TestWithParam<char const*> {
  protected:
    void SetUp() override {
        folder_ = std::filesystem::path(::testing::TempDir()) /
                  ("pitsaw_replay_" + std::string(GetParam()) + "_" + std::to_string(::getpid()));
        std::filesystem::create_directories(folder_);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    auto only_file() const -> std::string {
        std::string path;
        for (auto const& each : std::filesystem::directory_iterator(folder_)) path = each.path();
        return path;
    }

    std::filesystem::path folder_;
};

/// What follows the words in the text, to its end.
auto part_from(std::string const& text, std::string_view words) -> std::string {
    auto const at = text.find(words);
    return at == std::string::npos ? "not there: " + text : text.substr(at);
}

/// The records that a failed check prints: times, operations, descriptors and results.
auto printed_records(std::string const& errors) -> std::string {
    auto text = part_from(errors, "the last ");
    return text.substr(0, text.find("the whole record"));
}

TEST_P(replay_of, a_check_that_failed_on_a_real_driver_fails_again_at_the_same_record) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    auto const serve = [&] {
        ::setenv("PITSAW_DRIVER", GetParam(), 1);
        ::setenv("PITSAW_RECORD_FOLDER", folder_.c_str(), 1);
        runtime rt(options_that_hold(1 << 20));
        line_server server;
        server.on_port = [&](std::uint16_t port) { (void)!::write(ends[1], &port, sizeof port); };
        (void)sync_wait(rt, server.serve());
    };
    auto const ask = [&] {
        std::uint16_t port = 0;
        ASSERT_EQ(::read(ends[0], &port, sizeof port), ssize_t{sizeof port});
        plain_client const one(port);
        plain_client const other(port);
        ASSERT_TRUE(one.is_there() && other.is_there());
        EXPECT_EQ(one.line(), "hello");
        EXPECT_EQ(other.line(), "hello");
        one.say("abc\n");
        EXPECT_EQ(one.line(), "cba");
        other.say("in two ");
        one.say("def\n");
        EXPECT_EQ(one.line(), "fed");
        other.say("pieces\nbad\n");
        EXPECT_EQ(one.line(), "");
    };
    auto const then = in_a_process(serve, ask);
    ::close(ends[0]);
    ::close(ends[1]);
    ASSERT_TRUE(WIFSIGNALED(then.status)) << then.errors;
    EXPECT_NE(then.errors.find("a line that the program does not bear"), std::string::npos) << then.errors;
    auto const path = only_file();
    ASSERT_NE(then.errors.find("the whole record is in " + path), std::string::npos) << then.errors;

    auto const execute_again = [&] {
        ::setenv("PITSAW_DRIVER", "sim", 1);
        auto saved = sim::recording::read(path);
        if (!saved) ::_exit(1);
        sim::replay again(std::move(*saved));
        line_server server;
        (void)again.run(server.serve());
    };
    auto const now = in_a_process(execute_again, [] {});
    ASSERT_TRUE(WIFSIGNALED(now.status)) << now.errors;
    EXPECT_EQ(now.errors.substr(0, now.errors.find("the last ")),
              then.errors.substr(0, then.errors.find("the last "))); // the check and the async stack
    EXPECT_EQ(printed_records(now.errors), printed_records(then.errors));
}

TEST_P(replay_of, a_program_that_does_something_else_is_told_what) {
    ::setenv("PITSAW_DRIVER", GetParam(), 1);
    auto const path = (folder_ / "saved").string();
    {
        runtime rt(options_that_hold(1 << 20));
        line_server server;
        server.clients_max = 1;
        auto const talk = [](std::uint16_t port) -> task<io_result<void>> {
            auto peer = co_await or_return(tcp_stream::connect(endpoint::loopback(port)));
            buffered_reader reader{peer};
            EXPECT_EQ(co_await or_return(reader.read_line()), "hello");
            co_await or_return(peer.send_all(std::as_bytes(std::span("x\n", 2))));
            EXPECT_EQ(co_await or_return(reader.read_line()), "x");
            co_return {};
        };
        std::uint16_t at = 0;
        server.on_port = [&](std::uint16_t port) { at = port; };
        auto const both = [&]() -> task<io_result<void>> {
            auto const client = [&]() -> task<io_result<void>> {
                while (at == 0) co_await sleep(1ms);
                co_return co_await talk(at);
            };
            auto done = co_await when_all(server.serve(), client());
            (void)done;
            co_return {};
        };
        (void)sync_wait(rt, both());
        EXPECT_EQ(server.lines, 1U);
        ASSERT_EQ(rt.save_record(path.c_str()), std::error_code());

        auto saved = sim::recording::read(path);
        ASSERT_TRUE(saved.has_value()) << saved.error();
        EXPECT_TRUE(saved->is_whole());
        auto const calls = saved->calls();
        sim::replay again(std::move(*saved));
        server.lines = 0;
        at = 0;
        (void)again.run(both());
        EXPECT_EQ(again.divergence(), "");
        EXPECT_EQ(again.replayed(), calls);
        EXPECT_EQ(again.other_bytes_sent(), 0U);
        EXPECT_EQ(server.lines, 1U);

        sim::replay changed(std::move(*sim::recording::read(path)));
        server.greeting = "HELLO\n";
        at = 0;
        EXPECT_FALSE(changed.run(both()).has_exception());
        EXPECT_EQ(changed.divergence(), "");
        EXPECT_EQ(changed.other_bytes_sent(), 1U); // what came back then still comes

        sim::replay longer(std::move(*sim::recording::read(path)));
        server.greeting = "hello, world\n";
        at = 0;
        EXPECT_TRUE(longer.run(both()).is_stopped());
        EXPECT_NE(longer.divergence().find("asks for an attempt to send on descriptor"), std::string::npos)
            << longer.divergence();
        EXPECT_NE(longer.divergence().find("length 13, the recorded one asked for an attempt to send"),
                  std::string::npos)
            << longer.divergence();
        EXPECT_LT(longer.replayed(), calls);
    }
    ::setenv("PITSAW_DRIVER", "sim", 1);
}

INSTANTIATE_TEST_SUITE_P(each, replay_of, ::testing::Values("epoll", "io_uring"),
                         [](auto const& which) { return std::string(which.param); });

auto sleep_by_turns(int& turns) -> task<void> {
    for (turns = 0; turns < 10'000; ++turns) co_await sleep(1s);
}

auto temporary(char const* name) -> std::string {
    return ::testing::TempDir() + "pitsaw_" + name + std::to_string(::getpid());
}

TEST(replay, ends_where_the_recording_was_full) {
    auto const path = temporary("full");
    runtime rt(options_that_hold(4096));
    int turns = 0;
    EXPECT_TRUE(sync_wait(rt, sleep_by_turns(turns)).has_value());
    ASSERT_EQ(rt.save_record(path.c_str()), std::error_code());
    auto saved = sim::recording::read(path);
    ASSERT_TRUE(saved.has_value()) << saved.error();
    EXPECT_FALSE(saved->is_whole());
    auto const calls = saved->calls();
    sim::replay again(std::move(*saved));
    EXPECT_TRUE(again.run(sleep_by_turns(turns)).is_stopped());
    EXPECT_EQ(again.divergence(), "");
    EXPECT_EQ(again.replayed(), calls);
    EXPECT_GT(turns, 5);
    EXPECT_LT(turns, 100);
    ::unlink(path.c_str());
}

TEST(replay, runs_the_clean_ups_of_what_it_ends) {
    auto const path = temporary("clean_ups");
    auto const work = [](int& cleaned) -> task<void> {
        auto const clean = [](int* count) -> task<void> {
            co_await sleep(1s); // masked
            ++*count;
        };
        co_await at_exit(clean, &cleaned);
        co_await sleep(1h);
    };
    runtime rt(options_that_hold(128)); // not even to the sleep
    int cleaned = 0;
    EXPECT_TRUE(sync_wait(rt, work(cleaned)).has_value());
    EXPECT_EQ(cleaned, 1);
    ASSERT_EQ(rt.save_record(path.c_str()), std::error_code());
    cleaned = 0;
    auto saved = sim::recording::read(path);
    ASSERT_TRUE(saved.has_value()) << saved.error();
    sim::replay again(std::move(*saved));
    (void)again.run(work(cleaned));
    EXPECT_EQ(cleaned, 1);
    ::unlink(path.c_str());
}

TEST(replay, a_recording_tells_that_other_threads_were_at_work) {
    auto const path = temporary("wakes");
    runtime rt(options_that_hold(1 << 20));
    std::thread stopper([&] { rt.request_stop(); });
    auto const wait_for_it = []() -> task<void> {
        for (;;) co_await sleep(1h);
    };
    EXPECT_TRUE(sync_wait(rt, wait_for_it()).is_stopped());
    stopper.join();
    ASSERT_EQ(rt.save_record(path.c_str()), std::error_code());
    auto const saved = sim::recording::read(path);
    ASSERT_TRUE(saved.has_value()) << saved.error();
    EXPECT_EQ(saved->wakes(), 1U);
    ::unlink(path.c_str());
}

auto calls_between_sleeps(int& calls, int& turns) -> task<void> {
    co_await sleep(1ms);
    ++turns;
    co_await blocking([&] { ++calls; });
    ++turns;
    co_await sleep(1ms);
}

TEST(replay, of_a_program_that_uses_blocking_ends_at_its_first_job) {
    auto const path = temporary("blocking");
    runtime rt(testing::make_driver({"epoll"}), options_that_hold(1 << 20));
    int calls = 0;
    int turns = 0;
    EXPECT_TRUE(sync_wait(rt, calls_between_sleeps(calls, turns)).has_value());
    EXPECT_EQ(calls, 1);
    ASSERT_EQ(rt.save_record(path.c_str()), std::error_code());
    auto saved = sim::recording::read(path);
    ASSERT_TRUE(saved.has_value()) << saved.error();
    calls = turns = 0;
    sim::replay again(std::move(*saved));
    EXPECT_TRUE(again.run(calls_between_sleeps(calls, turns)).is_stopped());
    EXPECT_NE(again.divergence(), "");
    EXPECT_EQ(calls, 0);
    EXPECT_EQ(turns, 1);
    ::unlink(path.c_str());
}

TEST(replay, says_why_a_file_cannot_be_executed_again) {
    auto const path = temporary("no_inputs");
    EXPECT_NE(sim::recording::read(path).error().find("No such file"), std::string::npos);
    runtime rt;
    ASSERT_EQ(rt.save_record(path.c_str()), std::error_code());
    EXPECT_NE(sim::recording::read(path).error().find("held no inputs"), std::string::npos);
    std::ofstream(path) << "pitsaw";
    EXPECT_NE(sim::recording::read(path).error().find("no record of pitsaw"), std::string::npos);
    ::unlink(path.c_str());
}

} // namespace
} // namespace pitsaw
