#include "driver/denied_calls.hpp"
#include "loop/choose_driver.hpp"

#include <pitsaw/executor/runtime.hpp>
#include <pitsaw/task/sync_wait.hpp>
#include <pitsaw/task/task.hpp>

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>

namespace pitsaw {
namespace {

auto deny_io_uring(int error) -> bool { return deny_calls({SYS_io_uring_setup}, error); }

/// What `body`, run in a process of its own, writes to standard error; its status is 0 or the test fails.
template <class Body> auto said_by_a_process(Body body) -> std::string {
    auto const path = ::testing::TempDir() + "said_" + std::to_string(getpid());
    auto const child = fork();
    if (child == 0) {
        if (std::freopen(path.c_str(), "w", stderr) == nullptr) _exit(99);
        auto const status = body();
        std::fflush(stderr);
        _exit(status);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status)) << status;
    EXPECT_EQ(WEXITSTATUS(status), 0);
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    std::remove(path.c_str());
    return text.str();
}

auto chosen(char const* name) -> std::string {
    if (name == nullptr)
        unsetenv("PITSAW_DRIVER");
    else
        setenv("PITSAW_DRIVER", name, 1);
    try {
        return choose_driver()->features().name;
    } catch (std::system_error const& error) {
        return error.what();
    }
}

TEST(choose_driver, takes_io_uring_and_says_nothing) {
    EXPECT_EQ(said_by_a_process([] { return chosen(nullptr) == "io_uring" ? 0 : 1; }), "");
}

TEST(choose_driver, falls_back_to_epoll_and_says_why) {
    for (auto const error : {EPERM, ENOSYS, EOPNOTSUPP, EMFILE, EINVAL}) { // IU7
        auto const said = said_by_a_process([error] {
            if (!deny_io_uring(error)) return 98;
            return chosen(nullptr) == "epoll" ? 0 : 1;
        });
        EXPECT_EQ(said, "pitsaw: the system refuses io_uring (" + std::generic_category().message(error) +
                            "), so the driver is epoll\n");
    }
}

TEST(choose_driver, names_the_limit_that_a_lack_of_memory_may_come_from) { // IU8
    auto const said = said_by_a_process([] {
        rlimit const set{64 << 10, 64 << 10};
        if (setrlimit(RLIMIT_MEMLOCK, &set) != 0 || !deny_io_uring(ENOMEM)) return 98;
        return chosen(nullptr) == "epoll" ? 0 : 1;
    });
    EXPECT_NE(said.find("Cannot allocate memory, RLIMIT_MEMLOCK is 64 KiB"), std::string::npos) << said;
}

/// A ring that can be made and not used would be worse than none.
TEST(choose_driver, falls_back_where_a_filter_denies_only_the_later_calls) { // IU7
    for (auto const call : {SYS_io_uring_enter, SYS_io_uring_register})
        for (auto const error : {EPERM, ENOSYS}) {
            auto const said = said_by_a_process([=] {
                if (!deny_calls({static_cast<int>(call)}, error)) return 98;
                return chosen(nullptr) == "epoll" ? 0 : 1;
            });
            EXPECT_NE(said.find(std::generic_category().message(error)), std::string::npos) << said;
        }
}

TEST(choose_driver, a_filter_that_comes_after_the_driver_is_a_failed_check_that_says_so) { // IU7
    auto const deny_and_poll = [](int call) {
        unsetenv("PITSAW_DRIVER");
        auto const driver = choose_driver();
        if (!deny_calls({call}, EPERM)) _exit(98);
        std::array<event, 1> out;
        (void)driver->poll(out, driver->now() + std::chrono::milliseconds(1));
    };
    constexpr auto* says = "failed \\(Operation not permitted\\): a filter of system calls that denies it";
    EXPECT_DEATH(deny_and_poll(SYS_io_uring_enter), says);
    EXPECT_DEATH(deny_and_poll(SYS_io_uring_register), says);
}

TEST(choose_driver, epoll_works_where_a_filter_does_not_know_the_newer_way_to_wait) { // EP, of IU7's kind
    for (auto const error : {EPERM, ENOSYS})
        EXPECT_EQ(said_by_a_process([error] {
                      if (!deny_calls({SYS_epoll_pwait2}, error)) return 98;
                      setenv("PITSAW_DRIVER", "epoll", 1);
                      auto const driver = choose_driver();
                      std::array<event, 1> out;
                      auto const until = driver->now() + std::chrono::milliseconds(2);
                      return driver->poll(out, until) == 0 && driver->now() >= until ? 0 : 1;
                  }),
                  "");
}

TEST(choose_driver, a_program_without_a_driver_ends_with_1_and_says_why) {
    auto const said = said_by_a_process([] {
        setenv("PITSAW_DRIVER", "kqueue", 1);
        return run([](int status) -> task<int> { co_return status; }(0)) == 1 ? 0 : 1;
    });
    EXPECT_NE(said.find("`pitsaw doctor` says what this machine has; PITSAW_DRIVER is \"kqueue\""),
              std::string::npos)
        << said;
}

TEST(choose_driver, a_runtime_works_where_io_uring_is_denied) {
    auto const said = said_by_a_process([] {
        unsetenv("PITSAW_DRIVER");
        if (!deny_io_uring(EPERM)) return 98;
        runtime rt;
        return 0;
    });
    EXPECT_NE(said.find("so the driver is epoll"), std::string::npos) << said;
}

TEST(choose_driver, takes_what_is_named) {
    EXPECT_EQ(said_by_a_process([] {
                  if (chosen("sim") != "sim") return 1;
                  if (chosen("epoll") != "epoll") return 2;
                  return chosen("io_uring") == "io_uring" ? 0 : 3;
              }),
              "");
}

TEST(choose_driver, what_is_named_and_refused_is_an_error) {
    EXPECT_EQ(said_by_a_process([] {
                  if (!deny_io_uring(EPERM)) return 98;
                  auto const what = chosen("io_uring");
                  return what.ends_with("; no driver: io_uring: Operation not permitted") ? 0 : 1;
              }),
              "");
}

TEST(choose_driver, an_unknown_name_is_an_error_that_lists_the_known) {
    EXPECT_EQ(said_by_a_process([] {
                  auto const what = chosen("kqueue");
                  return what.find("PITSAW_DRIVER is \"kqueue\", which names no driver of this system: "
                                   "io_uring, epoll, sim") != std::string::npos
                             ? 0
                             : 1;
              }),
              "");
}

} // namespace
} // namespace pitsaw
