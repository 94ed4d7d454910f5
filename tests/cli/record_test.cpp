#include "cli/program.hpp"

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <string>

/// `pitsaw record` of processes that run, have ended, or are none of ours.

namespace pitsaw {
namespace {

using namespace cli_tests;
using namespace std::chrono_literals;

auto always_ready() -> bool { return true; }

auto record_of(pid_t which) -> answer {
    auto const number = std::to_string(which);
    return cli_tests::run({"pitsaw", "record", number.c_str()}, always_ready);
}

/// Another process; it is killed in the end.
class process {
  public:
    template <class Body> explicit process(Body body) {
        if (::pipe(ends_) != 0) return;
        number_ = ::fork();
        if (number_ != 0) return;
        body(*this);
        ::_exit(0);
    }
    process(process&&) = delete;
    ~process() {
        ::kill(number_, SIGKILL);
        ::waitpid(number_, nullptr, 0);
        ::close(ends_[0]);
        ::close(ends_[1]);
    }
    [[nodiscard]] auto number() const -> pid_t { return number_; }

    void is_ready() const { (void)!::write(ends_[1], "x", 1); }
    void wait_until_ready() const {
        char one = 0;
        (void)!::read(ends_[0], &one, 1);
    }

  private:
    int ends_[2] = {-1, -1};
    pid_t number_ = -1;
};

/// A word over a connection with itself, and then a wait without end.
task<io_result<void>> say_a_word_and_wait(process const& self) {
    auto listener = co_await or_return(tcp_listener::bind(endpoint::loopback(0)));
    auto const at = co_await or_return(listener.local_endpoint());
    auto near = co_await or_return(tcp_stream::connect(at));
    auto far = co_await or_return(listener.accept());
    co_await or_return(near.send_all(std::as_bytes(std::span("word", 4))));
    auto const got = co_await or_return(far.receive());
    self.is_ready();
    co_await sleep(1h);
    co_return {};
}

task<void> wake_up_again_and_again(process const& self) {
    for (int i = 0;; ++i) {
        co_await sleep(1ns);
        if (i == 1000) self.is_ready();
    }
}

template <class Work> void run_on(char const* driver, Work work, runtime_options options = {}) {
    ::setenv("PITSAW_DRIVER", driver, 1);
    runtime rt(std::move(options));
    (void)sync_wait(rt, work());
}

class record_of_driver : public ::testing::TestWithParam<char const*> {};

TEST_P(record_of_driver, shows_what_a_process_did_that_knows_nothing_of_it) {
    process const other(
        [](process const& self) { run_on(GetParam(), [&] { return say_a_word_and_wait(self); }); });
    other.wait_until_ready();
    auto const told = record_of(other.number());
    EXPECT_EQ(told.status, 0);
    EXPECT_TRUE(says(told, "worker 1 of process " + std::to_string(other.number()) + ", driver " +
                               GetParam() + ": the last "));
    EXPECT_TRUE(says(told, "  connect   descriptor "));
    EXPECT_TRUE(says(told, "  accept    descriptor "));
    EXPECT_TRUE(says(told, "  send      descriptor "));
    EXPECT_TRUE(says(told, "  receive   descriptor "));
    EXPECT_TRUE(says(told, "  4, pooled"));
    EXPECT_TRUE(says(told, "ended     with a value, last await at "));
    EXPECT_TRUE(says(told, "tcp_stream.cpp:"));
    EXPECT_EQ(::kill(other.number(), 0), 0); // it goes on
}

TEST_P(record_of_driver, reads_what_is_being_written) {
    runtime_options options;
    options.recorder.records = 64;
    process const other([&](process const& self) {
        run_on(GetParam(), [&] { return wake_up_again_and_again(self); }, options);
    });
    other.wait_until_ready();
    for (int i = 0; i < 10; ++i) {
        auto const told = record_of(other.number());
        EXPECT_EQ(told.status, 0) << told.text;
        EXPECT_TRUE(says(told, "timers    1 fired"));
        auto const lines = std::ranges::count(told.text, '\n');
        EXPECT_LE(lines, 64) << told.text; // the header, and not the slot that may be half written
    }
}

INSTANTIATE_TEST_SUITE_P(each, record_of_driver, ::testing::Values("epoll", "io_uring"),
                         [](auto const& which) { return std::string(which.param); });

TEST(record, saves_a_file_and_prints_it) {
    auto const path = ::testing::TempDir() + "pitsaw_saved_" + std::to_string(::getpid());
    runtime_options options;
    options.recorder.input_bytes = 1 << 20;
    process const other(
        [&](process const& self) { run_on("epoll", [&] { return say_a_word_and_wait(self); }, options); });
    other.wait_until_ready();
    auto const number = std::to_string(other.number());
    auto const saved =
        cli_tests::run({"pitsaw", "record", number.c_str(), "--raw", path.c_str()}, always_ready);
    EXPECT_EQ(saved.status, 0) << saved.text;
    EXPECT_TRUE(says(saved, path + ": "));
    auto const told = cli_tests::run({"pitsaw", "record", path.c_str()}, always_ready);
    EXPECT_EQ(told.status, 0) << told.text;
    EXPECT_TRUE(says(told, "driver epoll: the last "));
    EXPECT_TRUE(says(told, "inputs: "));
    EXPECT_TRUE(says(told, "  receive   descriptor "));
    std::remove(path.c_str());
    auto const refused =
        cli_tests::run({"pitsaw", "record", number.c_str(), "--raw", "/nowhere/at/all"}, always_ready);
    EXPECT_EQ(refused.status, 1);
    EXPECT_TRUE(says(refused, "/nowhere/at/all: No such file or directory"));
}

TEST(record, says_why_there_is_nothing_to_see) {
    auto const nobody = record_of(999'999'999);
    EXPECT_EQ(nobody.status, 1);
    EXPECT_TRUE(says(nobody, "there is no process 999999999"));
    process const stranger([](process const& self) {
        self.is_ready();
        ::pause();
    });
    stranger.wait_until_ready();
    auto const other = record_of(stranger.number());
    EXPECT_EQ(other.status, 1);
    EXPECT_TRUE(says(other, "has no flight recorder"));
    auto const no_file = cli_tests::run({"pitsaw", "record", "/nowhere/at/all"}, always_ready);
    EXPECT_EQ(no_file.status, 1);
    EXPECT_TRUE(says(no_file, "/nowhere/at/all: No such file or directory"));
    auto const no_record = cli_tests::run({"pitsaw", "record", "/etc/passwd"}, always_ready);
    EXPECT_EQ(no_record.status, 1);
    EXPECT_TRUE(says(no_record, "it is no record of pitsaw"));
}

TEST(record, of_a_process_that_has_ended_says_so) {
    process const ended([](process const& self) { self.is_ready(); });
    ended.wait_until_ready();
    siginfo_t how{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(ended.number()), &how, WEXITED | WNOWAIT), 0);
    auto const told = record_of(ended.number());
    EXPECT_EQ(told.status, 1);
    EXPECT_TRUE(says(told, "has ended") || says(told, "may not be looked into")) << told.text;
}

/// Process 1 is root's; root itself looks with another user's eyes.
TEST(record, of_another_users_process_says_who_may) {
    auto const become_another = [] {
        return ::geteuid() != 0 || (::setgid(65534) == 0 && ::setuid(65534) == 0);
    };
    auto const told = cli_tests::run({"pitsaw", "record", "1"}, become_another);
    EXPECT_EQ(told.status, 1);
    EXPECT_TRUE(says(told, "may not be looked into by this user"));
}

} // namespace
} // namespace pitsaw
