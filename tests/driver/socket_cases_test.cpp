#include "driver/epoll/driver.hpp"
#include "driver/io_uring/driver.hpp"
#include "driver/law_loop.hpp"
#include "driver/posix_subject.hpp"

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

/// What went wrong in other users of epoll, on both drivers of Linux.
namespace pitsaw::laws {
namespace {

struct driver_of_linux {
    char const* name;
    std::unique_ptr<driver> (*make)();
};

class socket_cases : public ::testing::TestWithParam<driver_of_linux> {
  protected:
    posix_subject subject{GetParam().make(), {}};
    law_loop loop{subject};
};

TEST_P(socket_cases, bytes_before_a_close_arrive_before_the_end) { // EP2
    auto const [left, right] = subject.connected_pair();
    constexpr std::size_t total = 1 << 20;
    std::size_t sent = 0;
    std::size_t received = 0;
    while (sent < total) {
        auto& send = loop.make_send(right, pattern(sent, total - sent));
        loop.submit(send);
        while (!send.ended()) {
            auto& receive = loop.make_receive(left, 32 << 10);
            loop.submit(receive);
            ASSERT_TRUE(loop.run_until([&] { return receive.ended() || send.ended(); }));
            loop.cancel(receive);
            ASSERT_TRUE(loop.run_until_ended(receive));
            if (receive.was_cancelled()) continue;
            auto const count = static_cast<std::size_t>(receive.result());
            ASSERT_TRUE(follows_pattern(std::span(receive.bytes).first(count), received));
            received += count;
        }
        ASSERT_GT(send.result(), 0);
        sent += static_cast<std::size_t>(send.result());
    }
    auto& close = loop.make(op_code::close, right);
    loop.submit(close);
    EXPECT_EQ(loop.receive_all(left, received), total - received); // up to the end of the stream
    ASSERT_TRUE(loop.run_until_ended(close));
}

TEST_P(socket_cases, a_reset_is_told_after_the_bytes_that_the_kernel_still_gives) { // EP2
    auto const [left, right] = subject.connected_pair();
    ASSERT_TRUE(loop.send_all(left, 0, 1)); // unread when `right` closes: TCP answers with a reset
    ASSERT_TRUE(loop.send_all(right, 0, 1'000));
    auto const received = loop.receive_all(left, 0, 1'000);
    loop.io().discard(right);
    EXPECT_EQ(received, 1'000U);
    auto& receive = loop.make_receive(left, 1);
    loop.submit(receive);
    ASSERT_TRUE(loop.run_until_ended(receive));
    EXPECT_EQ(to_error(receive.result()), std::errc::connection_reset);
}

/// Descriptors that the process's epoll instances watch.
auto watched_by_epoll() -> std::size_t {
    std::size_t count = 0;
    for (auto const& each : std::filesystem::directory_iterator("/proc/self/fdinfo")) {
        std::ifstream info(each.path());
        for (std::string line; std::getline(info, line);) count += line.starts_with("tfd:") ? 1 : 0;
    }
    return count;
}

TEST_P(socket_cases, an_object_that_lives_on_elsewhere_is_forgotten_when_it_is_closed) { // EP4
    auto const before = watched_by_epoll();
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    auto const elsewhere = ::dup(ends[0]); // as a child of a fork has one
    auto const mine = loop.io().attach(native_handle(ends[0])).value();
    auto& receive = loop.make_receive(mine, 8);
    loop.submit(receive);
    loop.turn(loop.io().now());
    auto& close = loop.make(op_code::close, mine);
    loop.submit(close);
    ASSERT_TRUE(loop.run_until_ended(close));
    EXPECT_EQ(watched_by_epoll(), before);
    ASSERT_EQ(::send(ends[1], "abc", 3, 0), 3);
    auto const events = loop.events();
    loop.run_for(law_loop::a_while);
    EXPECT_EQ(loop.events(), events);
    char bytes[4];
    EXPECT_EQ(::recv(elsewhere, bytes, sizeof bytes, MSG_DONTWAIT), 3)
        << "something of the closed one took them";
    ::close(elsewhere);
    ::close(ends[1]);
}

TEST_P(socket_cases, ten_thousand_connects_to_nobody_are_all_refused) { // EP6
    auto const nobody = subject.address_of_nobody();
    for (int i = 0; i < 10'000; ++i) {
        auto const socket = subject.socket();
        auto& connect = loop.make_connect(socket, nobody);
        loop.submit(connect);
        ASSERT_TRUE(loop.run_until_ended(connect));
        ASSERT_EQ(to_error(connect.result()), std::errc::connection_refused) << i;
        loop.io().discard(socket);
    }
}

TEST_P(socket_cases, a_connect_that_nobody_answers_ends_when_it_is_cancelled) { // EP6
    auto const [listener, address] = subject.listen(1);
    std::vector<tracked*> all;
    for (int i = 0; i < 8; ++i) {
        all.push_back(&loop.make_connect(subject.socket(), address)); // beyond the backlog they get no answer
        loop.submit(*all.back());
    }
    loop.run_for(law_loop::a_while);
    auto const answered = std::ranges::count_if(all, [](auto* op) { return op->ended(); });
    ASSERT_LT(answered, 8);
    ASSERT_TRUE(loop.end_all());
    EXPECT_EQ(std::ranges::count_if(all, [](auto* op) { return op->was_cancelled(); }), 8 - answered);
}

TEST_P(socket_cases, a_watch_tells_of_a_peer_that_goes_and_takes_nothing) { // EP8
    for (auto const breaks : {false, true}) {
        auto const [left, right] = subject.connected_pair();
        ASSERT_TRUE(loop.send_all(right, 0, 5));
        auto& watch = loop.make(op_code::watch, left);
        loop.submit(watch);
        loop.run_for(std::chrono::milliseconds(2));
        ASSERT_FALSE(watch.ended());
        if (breaks)
            subject.reset(right);
        else
            loop.io().discard(right);
        ASSERT_TRUE(loop.run_until_ended(watch));
        if (breaks) {
            EXPECT_EQ(to_error(watch.result()), std::errc::connection_reset);
        } else {
            EXPECT_EQ(watch.result(), 0);
            EXPECT_EQ(loop.receive_all(left, 0), 5U);
        }
    }
}

/// Two ends of a connection that no driver has seen yet.
auto plain_pair() -> std::pair<int, int> {
    auto const listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at = {};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof at;
    EXPECT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
    EXPECT_EQ(::listen(listener, 1), 0);
    EXPECT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&at), &length), 0);
    auto const one = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(::connect(one, reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
    auto const other = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    ::close(listener);
    return {one, other};
}

TEST_P(socket_cases, whoever_waits_hears_of_a_connection_that_timed_out) {
    auto const [ours, silent] = plain_pair();
    int const patience_ms = 300;
    ASSERT_EQ(::setsockopt(ours, IPPROTO_TCP, TCP_USER_TIMEOUT, &patience_ms, sizeof patience_ms), 0);
    std::vector<char> const much(1 << 20, 'x');
    while (::send(ours, much.data(), much.size(), MSG_DONTWAIT) > 0) { // until the peer's window is closed
    }
    auto const stream = loop.io().attach(native_handle(ours)).value();
    auto& breaks = loop.make(op_code::watch, stream);
    breaks.options = op_option::broken;
    auto& watch = loop.make(op_code::watch, stream);
    auto& receive = loop.make_receive(stream, 1); // takes the error, after the watches
    for (auto* const each : {&breaks, &watch, &receive}) loop.submit(*each);
    ASSERT_TRUE(loop.run_until([&] { return breaks.ended() && watch.ended() && receive.ended(); }));
    for (auto* const each : {&breaks, &watch, &receive})
        EXPECT_EQ(to_error(each->result()), std::errc::timed_out) << each->serial;
    ::close(silent);
}

TEST_P(socket_cases, bytes_behind_urgent_data_are_received) {
    auto const [ours, peer] = plain_pair();
    auto const stream = loop.io().attach(native_handle(ours)).value();
    loop.run_for(law_loop::a_while);
    ASSERT_EQ(::send(peer, "abc", 3, 0), 3);
    ASSERT_EQ(::send(peer, "!", 1, MSG_OOB), 1);
    ASSERT_EQ(::send(peer, "def", 3, 0), 3);
    std::string got;
    while (got.size() < 6) {
        auto& receive = loop.make_receive(stream, 100); // ends early at the urgent byte
        loop.start(receive);
        ASSERT_TRUE(loop.run_until_ended(receive)) << "after '" << got << "'";
        ASSERT_GT(receive.result(), 0);
        got.append(reinterpret_cast<char const*>(receive.bytes.data()),
                   static_cast<std::size_t>(receive.result()));
    }
    EXPECT_EQ(got, "abcdef");
    ::close(peer);
}

INSTANTIATE_TEST_SUITE_P(each, socket_cases,
                         ::testing::Values(driver_of_linux{"io_uring",
                                                           []() -> std::unique_ptr<driver> {
                                                               return io_uring_driver::make().value();
                                                           }},
                                           driver_of_linux{"epoll",
                                                           []() -> std::unique_ptr<driver> {
                                                               return epoll_driver::make().value();
                                                           }}),
                         [](auto const& which) { return which.param.name; });

} // namespace
} // namespace pitsaw::laws
