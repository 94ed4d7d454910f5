#include "driver/epoll/driver.hpp"
#include "driver/law_loop.hpp"
#include "driver/posix_subject.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <thread>

/// What is particular to real descriptors and to the poller; the laws are in the files beside.
namespace pitsaw::laws {
namespace {

struct epoll_driver_test : ::testing::Test {
    posix_subject subject{epoll_driver::make().value(), {}};
    law_loop loop{subject, 1};
};

TEST_F(epoll_driver_test, accept_without_free_descriptors_ends_with_that_error) {
    auto const [listener, address] = subject.listen(4);
    auto const client = subject.socket();
    auto& connecting = loop.make_connect(client, address);
    loop.start(connecting);
    ASSERT_TRUE(loop.run_until_ended(connecting));

    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    auto none_left = before;
    none_left.rlim_cur = 3; // the standard ones: every further number is beyond it
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none_left), 0);
    auto& refused = loop.make(op_code::accept, listener);
    refused.options = op_option::multishot;
    loop.submit(refused); // accepts at once; the limit ends soon, for the sanitizers need descriptors as well
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    ASSERT_TRUE(loop.run_until_ended(refused));
    EXPECT_EQ(to_error(refused.result()), std::errc::too_many_files_open);

    auto& accepted =
        loop.make(op_code::accept, listener); // the connection has waited, and no edge tells of it
    loop.submit(accepted);
    ASSERT_TRUE(loop.run_until_ended(accepted));
    ASSERT_GE(accepted.result(), 0);
    loop.io().discard(loop.io().attach(native_handle(accepted.result())).value());
}

TEST_F(epoll_driver_test, a_file_is_refused_and_closed) {
    auto const before = subject.open_objects();
    auto const file = ::open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    auto const regular = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    ASSERT_GE(file, 0);
    ASSERT_GE(regular, 0);
    EXPECT_EQ(loop.io().attach(native_handle(regular)).error(), std::errc::operation_not_permitted);
    EXPECT_EQ(loop.io().attach(native_handle::none).error(), std::errc::bad_file_descriptor);
    EXPECT_EQ(subject.open_objects(), before + 1);
    ::close(file);
}

TEST_F(epoll_driver_test, attach_makes_a_handle_not_block) {
    auto const fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT_TRUE(loop.io().attach(native_handle(fd)));
    EXPECT_NE(::fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
}

TEST_F(epoll_driver_test, a_loop_that_is_always_busy_still_hears_from_the_kernel) {
    auto const [left, right] = subject.connected_pair();
    auto& receive = loop.make_receive(left, 1);
    loop.submit(receive);
    loop.turn(loop.io().now());
    ASSERT_TRUE(loop.send_all(right, 0, 1));
    for (int i = 0; i < 100 && !receive.ended(); ++i) {
        for (int more = 0; more < 2; ++more)
            loop.submit(loop.make(op_code::nop)); // more than a turn hands out
        loop.turn(time_point::min());
    }
    EXPECT_TRUE(loop.run_until_ended(receive));
    auto const& order = loop.finals();
    EXPECT_LT(std::ranges::find(order, &receive) - order.begin(), 100) << "it waited until the loop was idle";
}

TEST_F(epoll_driver_test, a_descriptor_that_is_always_ready_leaves_room_for_the_others) {
    auto const [left, right] = subject.connected_pair();
    auto const [other_left, other_right] = subject.connected_pair();
    for (int i = 0; i < 500; ++i) loop.submit(loop.make_receive(left, 1));
    auto& other = loop.make_receive(other_left, 1);
    loop.submit(other);
    loop.turn(loop.io().now()); // they wait from here on
    ASSERT_TRUE(loop.send_all(right, 0, 1'000));
    ASSERT_TRUE(loop.send_all(other_right, 0, 1));
    ASSERT_TRUE(loop.run_until_ended(other));
    EXPECT_LT(loop.finals().size(), 100U);
}

TEST_F(epoll_driver_test, a_signal_does_not_end_a_poll) {
    struct sigaction ignored = {};
    ignored.sa_handler = [](int) {};
    struct sigaction before = {};
    ASSERT_EQ(::sigaction(SIGUSR1, &ignored, &before), 0);
    auto const here = ::pthread_self();
    auto const until = loop.io().now() + std::chrono::milliseconds(30);
    std::jthread const sender([&] {
        for (int i = 0; i < 5; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
            ::pthread_kill(here, SIGUSR1);
        }
    });
    EXPECT_EQ(loop.turn(until), 0U); // the loop notes a return before `until`
    EXPECT_EQ(loop.finding(), "");
    ::sigaction(SIGUSR1, &before, nullptr);
}

} // namespace
} // namespace pitsaw::laws
