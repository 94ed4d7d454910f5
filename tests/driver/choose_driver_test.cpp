#include "loop/choose_driver.hpp"

#include <pitsaw/executor/runtime.hpp>

#include <gtest/gtest.h>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>

namespace pitsaw {
namespace {

/// Makes io_uring_setup fail with `error` for the rest of the process's life, as container runtimes do.
auto deny_io_uring(unsigned error) -> bool {
    sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    sock_fprog const program{sizeof rules / sizeof rules[0], rules};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

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
    for (auto const error : {EPERM, ENOSYS, ENOMEM, EMFILE, EINVAL}) {
        auto const said = said_by_a_process([error] {
            if (!deny_io_uring(static_cast<unsigned>(error))) return 98;
            return chosen(nullptr) == "epoll" ? 0 : 1;
        });
        EXPECT_EQ(said, "pitsaw: the system refuses io_uring (" + std::generic_category().message(error) +
                            "), so the driver is epoll\n");
    }
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
                  return chosen("io_uring") == "no driver: io_uring: Operation not permitted" ? 0 : 1;
              }),
              "");
}

TEST(choose_driver, an_unknown_name_is_an_error_that_lists_the_known) {
    EXPECT_EQ(said_by_a_process([] {
                  auto const what = chosen("kqueue");
                  return what.starts_with(
                             "PITSAW_DRIVER is \"kqueue\", which names no driver of this system: "
                             "io_uring, epoll, sim")
                             ? 0
                             : 1;
              }),
              "");
}

} // namespace
} // namespace pitsaw
