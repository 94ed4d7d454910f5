#include "cli/program.hpp"
#include "driver/denied_calls.hpp"

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstdlib>
#include <string>

/// `pitsaw doctor` on machines as they are and as they may be.
#ifdef __has_feature
#define PITSAW_HAS_FEATURE(x) __has_feature(x)
#else
#define PITSAW_HAS_FEATURE(x) 0
#endif

namespace pitsaw {
namespace {

using namespace cli_tests;

/// It reads an object's memory, to check its type, through a pipe of its own.
constexpr bool sanitizer_needs_descriptors = PITSAW_HAS_FEATURE(undefined_behavior_sanitizer);

template <class Prepare> auto doctor(Prepare prepare) -> answer { return run({"pitsaw", "doctor"}, prepare); }

TEST(doctor, says_which_driver_a_runtime_gets) {
    auto const told = doctor([] { return true; });
    EXPECT_EQ(told.status, 0);
    for (auto const* const what : {"kernel ", "RLIMIT_NOFILE", "RLIMIT_MEMLOCK", "seccomp ", "epoll  ",
                                   "kernel.io_uring_disabled", "driver "})
        EXPECT_TRUE(says(told, what));
}

TEST(doctor, says_that_a_filter_denies_io_uring_and_that_epoll_works) {
    auto const told = doctor([] { return deny_calls({SYS_io_uring_setup}, EPERM); });
    EXPECT_EQ(told.status, 0);
    EXPECT_TRUE(says(told, "filter: it may deny io_uring"));
    EXPECT_TRUE(says(told, "no: Operation not permitted"));
    EXPECT_TRUE(
        says(told, "epoll: the system refuses io_uring (Operation not permitted), so the driver is epoll"));
}

TEST(doctor, fails_where_every_driver_is_refused) {
    auto const told =
        doctor([] { return deny_calls({SYS_io_uring_setup, SYS_epoll_create1, SYS_eventfd2}, EMFILE); });
    EXPECT_EQ(told.status, 1);
    EXPECT_TRUE(says(told, "driver                     none: no driver: io_uring (Too many open files), "
                           "epoll: Too many open files"));
}

TEST(doctor, fails_where_there_are_no_descriptors) {
    auto const told = doctor([] {
        rlimit const few{4, 4}; // beyond the standard ones one, which the loader needs for libraries
        return setrlimit(RLIMIT_NOFILE, &few) == 0;
    });
    EXPECT_EQ(told.status, 1);
    if (sanitizer_needs_descriptors) return; // and found an object broken, which ends with 1 too
    EXPECT_TRUE(says(told, "driver                     none: "));
    EXPECT_TRUE(says(told, "Too many open files"));
}

TEST(doctor, follows_the_variable_that_names_a_driver) {
    auto const epoll = doctor([] { return setenv("PITSAW_DRIVER", "epoll", 1) == 0; });
    EXPECT_EQ(epoll.status, 0);
    EXPECT_TRUE(says(epoll, "epoll: PITSAW_DRIVER names epoll"));
    auto const unknown = doctor([] { return setenv("PITSAW_DRIVER", "kqueue", 1) == 0; });
    EXPECT_EQ(unknown.status, 1);
    EXPECT_TRUE(says(unknown, "PITSAW_DRIVER is \"kqueue\", which names no driver"));
    auto const denied = doctor([] {
        return setenv("PITSAW_DRIVER", "io_uring", 1) == 0 && deny_calls({SYS_io_uring_setup}, ENOSYS);
    });
    EXPECT_EQ(denied.status, 1);
    EXPECT_TRUE(says(denied, "none: no driver: io_uring: Function not implemented"));
}

TEST(doctor, is_a_word_that_has_to_be_said) {
    auto const nothing = run({"pitsaw"}, [] { return true; });
    EXPECT_NE(nothing.status, 0);
    EXPECT_TRUE(says(nothing, "subcommand"));
    auto const wrong = run({"pitsaw", "dentist"}, [] { return true; });
    EXPECT_NE(wrong.status, 0);
    auto const help = run({"pitsaw", "--help"}, [] { return true; });
    EXPECT_EQ(help.status, 0);
    EXPECT_TRUE(says(help, "doctor"));
    EXPECT_TRUE(says(help, "record"));
}

} // namespace
} // namespace pitsaw
