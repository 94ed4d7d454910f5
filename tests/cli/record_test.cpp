#include "cli/program.hpp"

#include "loop/flight_record.hpp"

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/types.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <new>
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

/// Memory that begins as a recorder's does, and says something of itself that is for `change` to choose.
template <class Change> auto map_a_header(std::size_t bytes, Change change) -> flight_header* {
    constexpr std::size_t guard = std::size_t{1} << 16;
    auto* const all =
        ::mmap(nullptr, bytes + guard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) return nullptr;
    auto* const at = static_cast<std::byte*>(all) + guard;
    if (::mprotect(at, bytes, PROT_READ | PROT_WRITE) != 0) return nullptr;
    auto* const header = new (at) flight_header;
    header->records = 64;
    header->inputs_at = 2 * flight_header::bytes;
    header->inputs_max = flight_header::bytes;
    change(*header);
    return header;
}

template <class Change> auto record_of_a_header(std::size_t bytes, Change change) -> answer {
    process const hostile([&](process const& self) {
        if (map_a_header(bytes, change) == nullptr) return;
        self.is_ready();
        ::pause();
    });
    hostile.wait_until_ready();
    return record_of(hostile.number());
}

constexpr std::size_t a_few_pages = 16 * flight_header::bytes;
constexpr auto all_ones = ~std::uint64_t{0};

TEST(record, believes_no_size_that_a_process_says) {
    auto const sound = record_of_a_header(a_few_pages, [](flight_header&) {});
    EXPECT_EQ(sound.status, 0) << sound.text;
    void (*const changes[])(flight_header&) = {
        [](flight_header& of) { of.inputs_at = 8; },
        [](flight_header& of) { of.inputs_at = 0; },
        [](flight_header& of) { of.inputs_at = all_ones - 7, of.inputs.end = 16; },
        [](flight_header& of) { of.inputs_at += 4; },
        [](flight_header& of) { of.inputs.end = all_ones; },
        [](flight_header& of) { of.inputs.end = all_ones - of.inputs_at + 9; },
        [](flight_header& of) { of.inputs.end = of.inputs_max + 8; },
        [](flight_header& of) { of.inputs_max = all_ones, of.inputs.end = 16 * flight_header::bytes; },
        [](flight_header& of) { of.records = 0; },
        [](flight_header& of) { of.records = 65; },
        [](flight_header& of) { of.records = 1U << 31; },
        [](flight_header& of) { of.records_at = std::uint64_t{1} << 40; },
        [](flight_header& of) { of.records_at = 8; },
    };
    for (std::size_t i = 0; i < std::size(changes); ++i) {
        auto const told = record_of_a_header(a_few_pages, changes[i]);
        EXPECT_EQ(told.status, 1) << "change " << i;
        EXPECT_TRUE(says(told, "it is cut off or damaged")) << "change " << i;
    }
}

TEST(record, copies_no_more_of_a_process_than_a_recorder_can_have) {
    auto const told = record_of_a_header(std::size_t{1} << 34, [](flight_header& of) {
        of.inputs_max = of.inputs.end = std::uint64_t{1} << 33;
    });
    EXPECT_EQ(told.status, 1);
    EXPECT_TRUE(says(told, "it is cut off or damaged"));
}

TEST(record, gives_a_terminal_no_orders_of_a_process) {
    auto const told = record_of_a_header(a_few_pages, [](flight_header& of) {
        of.driver = {'a', '\x1b', '[', '2', 'J', '\n', 'b', '\x9b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'};
    });
    EXPECT_EQ(told.status, 0);
    EXPECT_TRUE(says(told, "driver a?[2J?b?cdefghij: the last 0 of 0 records"));
}

TEST(record, of_a_damaged_worker_does_not_hide_the_next_one) {
    process const other([](process const& self) {
        auto* const one = map_a_header(a_few_pages, [](flight_header&) {});
        auto* const two = map_a_header(a_few_pages, [](flight_header&) {});
        if (one == nullptr || two == nullptr) return;
        std::min(one, two)->records = 3; // what the lower address has is looked at first
        self.is_ready();
        ::pause();
    });
    other.wait_until_ready();
    auto const told = record_of(other.number());
    EXPECT_EQ(told.status, 1);
    EXPECT_TRUE(
        says(told, "worker 1 of process " + std::to_string(other.number()) + ": it is cut off or damaged"));
    EXPECT_TRUE(says(told, "worker 2 of process " + std::to_string(other.number()) + ", driver "));
}

TEST(record, of_a_process_that_changes_its_header_meanwhile_ends_in_order) {
    process const hostile([](process const& self) {
        auto* const header = map_a_header(a_few_pages, [](flight_header&) {});
        if (header == nullptr) return;
        self.is_ready();
        for (std::uint64_t i = 0;; ++i) {
            std::atomic_ref(header->inputs_at).store(i % 2 == 0 ? 8 : 2 * flight_header::bytes);
            std::atomic_ref(header->records).store(i % 3 == 0 ? 1U << 31 : 64U);
            header->head.store(i * 0x9e37'79b9'7f4a'7c15);
        }
    });
    hostile.wait_until_ready();
    for (int i = 0; i < 20; ++i) EXPECT_LE(record_of(hostile.number()).status, 1);
}

TEST(record, of_an_endless_file_or_a_folder_says_so) {
    auto const endless = cli_tests::run({"pitsaw", "record", "/dev/zero"}, always_ready);
    EXPECT_EQ(endless.status, 1);
    EXPECT_TRUE(says(endless, "it is no record of pitsaw"));
    auto const folder = cli_tests::run({"pitsaw", "record", "/"}, always_ready);
    EXPECT_EQ(folder.status, 1);
    EXPECT_TRUE(says(folder, "/: Is a directory"));
    auto const nothing = cli_tests::run({"pitsaw", "record", ""}, always_ready);
    EXPECT_EQ(nothing.status, 1) << nothing.text;
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
