// Closes, shutdowns and shortages on real drivers while everything is in flight.
#include "stream_pair.hpp"
#include "stress/random_stops.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using ps::testing::bytes_of;
using ps::testing::descriptors_left;
using ps::testing::open_descriptors;

namespace {

using result = ps::task<ps::io_result<void>>;

using ends = ps::testing::on_a_driver;

// ---- What sync_wait leaves behind

TEST_P(ends, a_stream_dropped_at_the_very_end_is_closed_when_sync_wait_returns) {
    auto const before = open_descriptors();
    ps::runtime rt(ps::testing::make_driver(GetParam()));
    auto const made = open_descriptors();
    auto const drop = []() -> result {
        auto listener = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::loopback(0)));
        auto const at = co_await ps::or_return(listener.local_endpoint());
        auto const stream = co_await ps::or_return(ps::tcp_stream::connect(at));
        co_return {};
    };
    ASSERT_TRUE(ps::sync_wait(rt, drop()).has_value());
    EXPECT_EQ(open_descriptors(), made) << before;
}

TEST_P(ends, a_listener_that_goes_leaves_its_port_at_once) {
    auto const work = []() -> result {
        std::uint16_t port = 0;
        for (int i = 0; i < 3; ++i) {
            auto listener = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::loopback(port)));
            auto const at = co_await ps::or_return(listener.local_endpoint());
            port = at.port();
        }
        co_return {};
    };
    run(work());
}

TEST_P(ends, a_runtime_that_a_thread_ran_is_destroyed_by_its_owner) {
    auto const before = open_descriptors();
    {
        ps::runtime rt(ps::testing::make_driver(GetParam()));
        std::thread runs([&rt] {
            auto const work = []() -> result {
                auto pair = co_await ps::or_return(ps::testing::connect_pair());
                auto const got = co_await ps::or_return(pair.server.receive()); // until the stop
                co_return {};
            };
            EXPECT_TRUE(ps::sync_wait(rt, work()).is_stopped());
        });
        rt.request_stop();
        runs.join();
    }
    EXPECT_EQ(open_descriptors(), before);
}

TEST_P(ends, a_runtime_that_runs_on_a_second_thread_is_a_failed_check) {
    auto const two_threads = [] {
        ps::runtime rt(ps::testing::make_driver(GetParam()));
        auto const once = [&rt] {
            (void)ps::sync_wait(rt, [](int one) -> ps::task<int> { co_return one; }(1));
        };
        std::thread(once).join();
        std::thread(once).join(); // which may have the first one's id
    };
    EXPECT_DEATH(two_threads(), "a runtime belongs to the thread of its first sync_wait");
}

TEST_P(ends, a_stream_that_is_moved_to_itself_stays_open) {
    auto const work = []() -> result {
        auto pair = co_await ps::or_return(ps::testing::connect_pair());
        auto& same = pair.client;
        pair.client = std::move(same);
        co_await ps::or_return(pair.client.send_all(bytes_of("here")));
        auto got = co_await ps::or_return(pair.server.receive());
        auto& same_lease = got;
        got = std::move(same_lease);
        EXPECT_EQ(ps::testing::text_of(got.bytes()), "here");
        co_return {};
    };
    run(work());
}

TEST_P(ends, options_of_a_stream_can_be_switched_off) {
    auto const no_delay_of_the_last = [] {
        auto value = -1;
        for (int fd = 0; fd < 1024; ++fd) {
            int found = 0;
            socklen_t length = sizeof found;
            if (::getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &found, &length) == 0) value = found;
        }
        return value;
    };
    auto const work = [&]() -> result {
        auto listener = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::loopback(0)));
        auto const at = co_await ps::or_return(listener.local_endpoint());
        auto stream = co_await ps::or_return(ps::tcp_stream::connect(at));
        EXPECT_EQ(no_delay_of_the_last(), 1);
        ps::tcp_stream_options off;
        off.no_delay = false;
        co_await ps::or_return(stream.set_options(off));
        EXPECT_EQ(no_delay_of_the_last(), 0);
        co_return {};
    };
    run(work());
}

// ---- Closing while something waits

result close_soon(ps::tcp_stream& which, bool& is_closed) {
    co_await ps::this_task::yield();
    auto const done = co_await which.async_close();
    is_closed = true;
    co_return done;
}

ps::task<std::error_code> receive_until_closed(ps::tcp_stream& from, bool const& is_closed, bool pooled) {
    std::array<std::byte, 16> into{};
    std::error_code error;
    if (pooled) {
        auto const got = co_await from.receive();
        if (!got.has_value()) error = got.error();
    } else {
        auto const got = co_await from.receive(into);
        if (!got.has_value()) error = got.error();
    }
    EXPECT_FALSE(is_closed) << "the close ended before the receive that it ends";
    co_return error;
}

result close_under_a_receive() {
    auto const before = open_descriptors();
    for (int i = 0; i < 500; ++i) {
        auto old = co_await ps::or_return(ps::testing::connect_pair());
        bool is_closed = false;
        auto const both = co_await ps::or_return(ps::when_all(
            receive_until_closed(old.server, is_closed, i % 2 == 0), close_soon(old.server, is_closed)));
        EXPECT_EQ(std::get<0>(both), std::errc::operation_canceled);
        // The number is likely to be used again, by a stream whose bytes nobody else may take.
        auto fresh = co_await ps::or_return(ps::testing::connect_pair());
        co_await ps::or_return(fresh.client.send_all(bytes_of("fresh")));
        co_await ps::or_return(fresh.client.shutdown_send());
        ps::buffered_reader reader{fresh.server};
        auto const all = co_await ps::or_return(reader.read_exactly(5));
        EXPECT_EQ(ps::testing::text_of(all), "fresh");
    }
    auto const left = co_await descriptors_left(before);
    EXPECT_EQ(left, before);
    co_return {};
}

TEST_P(ends, a_close_first_ends_the_receive_that_waits) { // CA5
    run(close_under_a_receive());
}

// ---- Destroying the runtime while the peer sends

constexpr std::size_t links = 100;
constexpr std::byte poison{0xAA};

/// A thread that sends to all of its sockets until it is told to end.
class sending_thread {
  public:
    explicit sending_thread(std::vector<int> to) : to_(std::move(to)), thread_([this] { send_all(); }) {}
    sending_thread(sending_thread&&) = delete;
    ~sending_thread() {
        is_over_ = true;
        thread_.join();
        for (int const fd : to_) ::close(fd);
    }

  private:
    void send_all() {
        std::array<char, 700> const bytes{};
        while (!is_over_)
            for (int const fd : to_)
                (void)::send(fd, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    }

    std::vector<int> to_;
    std::atomic<bool> is_over_ = false;
    std::thread thread_;
};

using buffers = std::vector<std::array<std::byte, 512>>;

ps::task<> receive_for_ever(ps::tcp_stream from, std::span<std::byte> into, bool pooled) {
    for (;;) {
        std::size_t count = 0;
        if (pooled) {
            auto const got = co_await from.receive();
            count = got.has_value() ? got->size() : 0;
        } else {
            auto const got = co_await from.receive(into);
            count = got.has_value() ? *got : 0;
            std::ranges::fill(into, poison);
        }
        if (count == 0) co_return;
    }
}

result receive_on_all(std::vector<ps::native_handle> const& handles, buffers& into) {
    ps::environment const& env = co_await ps::this_task::get_environment();
    auto const home = env.executor;
    co_return co_await ps::task_group::run([&](ps::task_group& all) -> ps::task<ps::io_result<void>> {
        for (std::size_t i = 0; i < handles.size(); ++i) {
            auto const own = co_await ps::or_return(home->io->attach(handles[i]));
            all.spawn(receive_for_ever(ps::tcp_stream(home, own), into[i], i % 2 == 0));
        }
        co_return {};
    });
}

TEST_P(ends, a_runtime_destroyed_while_peers_send_leaves_no_buffer_that_is_written) { // CA6
    auto const seed = ps::testing::stress_seed(6);
    SCOPED_TRACE(ps::testing::say_seed(seed));
    ps::random_source random(seed);
    auto const before = open_descriptors();
    for (int round = 0; round < 20; ++round) {
        std::vector<ps::native_handle> handles;
        std::vector<int> peers;
        for (std::size_t i = 0; i < links; ++i) {
            int fds[2];
            ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0)
                << std::generic_category().message(errno);
            handles.push_back(ps::native_handle(fds[0]));
            peers.push_back(fds[1]);
        }
        buffers into(links);
        sending_thread const sender(std::move(peers));
        {
            ps::runtime_options few;
            few.pool_buffers = 16; // so that some receive into the heap
            ps::runtime rt(ps::testing::make_driver(GetParam()), few);
            auto const time = ps::testing::random_time(random, 5ms);
            std::jthread const stopper([&rt, time] {
                std::this_thread::sleep_for(time);
                rt.request_stop();
            });
            EXPECT_TRUE(ps::sync_wait(rt, receive_on_all(handles, into)).is_stopped());
        }
        for (auto& buffer : into) buffer.fill(poison);
        std::this_thread::sleep_for(1ms);
        for (auto const& buffer : into)
            EXPECT_TRUE(std::ranges::all_of(buffer, [](auto one) { return one == poison; }));
    }
    EXPECT_EQ(open_descriptors(), before);
}

// ---- No descriptor left

/// A connection that waits to be accepted, made without pitsaw.
int knock(std::uint16_t port) {
    int const fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
    return fd;
}

result release_later(std::vector<int>& fillers) {
    co_await ps::sleep(30ms);
    for (int const fd : std::exchange(fillers, {})) ::close(fd);
    co_return {};
}

result accept_one(ps::tcp_listener& listener) {
    auto peer = co_await ps::or_return(listener.accept());
    co_return co_await peer.send_all(bytes_of("x"));
}

result accept_without_descriptors(bool waits_before) {
    auto listener = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::loopback(0)));
    auto const at = co_await ps::or_return(listener.local_endpoint());
    int first = -1;
    if (!waits_before) first = knock(at.port());
    int const later = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    std::vector<int> fillers;
    for (int fd = 0; (fd = ::fcntl(0, F_DUPFD_CLOEXEC, 0)) >= 0;) fillers.push_back(fd);
    EXPECT_EQ(errno, EMFILE);
    auto const knock_later = [](int fd, std::uint16_t port, bool is_due) -> result {
        co_await ps::sleep(5ms);
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(port);
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (is_due) {
            EXPECT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
        }
        co_return {};
    };
    auto const done = co_await ps::when_all(accept_one(listener), knock_later(later, at.port(), waits_before),
                                            release_later(fillers));
    EXPECT_TRUE(done.has_value());
    char greeting = 0;
    EXPECT_EQ(::recv(waits_before ? later : first, &greeting, 1, 0), 1);
    ::close(later);
    if (first >= 0) ::close(first);
    co_return {};
}

class few_descriptors {
  public:
    few_descriptors() {
        EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
        rlimit few = before_;
        few.rlim_cur = 256;
        // The sanitizers need a descriptor to look at a type for the first time.
        auto const shortage = std::make_error_code(std::errc::too_many_files_open);
        EXPECT_TRUE(shortage == std::errc::too_many_files_open);
        EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
    }
    few_descriptors(few_descriptors&&) = delete;
    ~few_descriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

  private:
    rlimit before_{};
};

TEST_P(ends, an_accept_without_descriptors_left_waits_until_there_are) {
    few_descriptors const limit;
    auto const before = open_descriptors();
    run(accept_without_descriptors(false));
    run(accept_without_descriptors(true));
    EXPECT_EQ(open_descriptors(), before);
}

INSTANTIATE_TEST_SUITE_P(drivers, ends, ps::testing::real_drivers(), ps::testing::name_of_driver);

} // namespace
