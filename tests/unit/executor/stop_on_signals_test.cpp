#include <pitsaw/executor/stop_on_signals.hpp>

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ps = pitsaw;
using namespace std::chrono_literals;

namespace {

// A process of its own that runs `body(out)` and ends with what that returns; what it writes to `out` can be
// read here.
class child_process {
  public:
    template <class Body> explicit child_process(Body body) {
        int ends[2];
        EXPECT_EQ(::pipe(ends), 0);
        pid_ = ::fork();
        if (pid_ == 0) {
            ::close(ends[0]);
            ::alarm(60); // a child that hangs ends itself
            ::_exit(body(ends[1]));
        }
        ::close(ends[1]);
        from_ = ends[0];
    }
    child_process(child_process&&) = delete;
    ~child_process() {
        ::close(from_);
        if (pid_ > 0) (void)end();
    }

    void send(int signal) const { ASSERT_EQ(::kill(pid_, signal), 0); }

    // What the child writes, up to and with `last`, or its end.
    [[nodiscard]] std::string read_until(char last) const {
        std::string text;
        char letter = 0;
        for (ssize_t got = 0; (got = ::read(from_, &letter, 1)) != 0;) {
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) break;
            text += letter;
            if (letter == last) break;
        }
        return text;
    }

    // "exit 0", "signal 2".
    [[nodiscard]] std::string end() {
        int status = 0;
        while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
        }
        pid_ = -1;
        if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status));
        return "exit " + std::to_string(WEXITSTATUS(status));
    }

  private:
    pid_t pid_ = -1;
    int from_ = -1;
};

void say(int out, std::string_view text) { (void)!::write(out, text.data(), text.size()); }

ps::task<> say_later(int out, char const* text) {
    co_await ps::sleep(1ms);
    say(out, text);
}

ps::task<ps::io_result<void>> echo(ps::tcp_stream peer) {
    for (;;) {
        auto chunk = co_await ps::or_return(peer.receive());
        if (chunk.empty()) co_return {};
        co_await ps::or_return(peer.send_all(chunk));
    }
}

ps::task<ps::io_result<void>> serve(int out) {
    co_await ps::at_exit(say_later, out, "cleaned");
    auto listener = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::loopback(0)));
    auto const at = co_await ps::or_return(listener.local_endpoint());
    say(out, std::to_string(at.port()) + "\n");
    co_return co_await ps::task_group::run(
        ps::on_failure::keep_others, [&](ps::task_group& clients) -> ps::task<ps::io_result<void>> {
            for (;;) clients.spawn(echo(co_await ps::or_return(listener.accept())));
        });
}

// A client that blocks, as those of other programs do.
int connect_to(int port) {
    int const fd = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
    return fd;
}

struct served {
    char const* driver;
    int signal;
};

class served_until_a_signal : public ::testing::TestWithParam<served> {};

TEST_P(served_until_a_signal, run_drains_cleans_up_and_gives_0) {
    child_process server([](int out) {
        ::setenv("PITSAW_DRIVER", GetParam().driver, 1);
        return ps::run(serve(out));
    });
    int const peer = connect_to(std::stoi(server.read_until('\n')));
    ASSERT_EQ(::send(peer, "ping", 4, 0), 4);
    char back[4];
    ASSERT_EQ(::recv(peer, back, 4, MSG_WAITALL), 4);
    server.send(GetParam().signal);
    EXPECT_EQ(::recv(peer, back, 4, MSG_WAITALL), 0); // its connection was closed
    EXPECT_EQ(server.read_until('\0'), "cleaned");
    EXPECT_EQ(server.end(), "exit 0");
    ::close(peer);
}

INSTANTIATE_TEST_SUITE_P(drivers, served_until_a_signal,
                         ::testing::Values(served{"io_uring", SIGINT}, served{"io_uring", SIGTERM},
                                           served{"epoll", SIGINT}, served{"epoll", SIGTERM}),
                         [](auto const& instance) {
                             return std::string(instance.param.driver) +
                                    (instance.param.signal == SIGINT ? "_interrupt" : "_terminate");
                         });

// ---- The rest does not depend on the driver.

ps::task<> wait_an_hour(int out) {
    co_await ps::this_task::yield();
    say(out, "waits\n");
    co_await ps::sleep(1h);
}

int real_run(ps::task<> work) {
    ::setenv("PITSAW_DRIVER", "epoll", 1);
    return ps::run(std::move(work));
}

ps::task<> clean_up_for_long(int out) {
    say(out, "cleaning\n");
    co_await ps::sleep(1h);
}

ps::task<> hangs_while_it_cleans_up(int out) {
    co_await ps::at_exit(clean_up_for_long, out).within(2h);
    co_await wait_an_hour(out);
}

TEST(stop_on_signals, a_second_signal_ends_the_process_at_once) {
    for (int const second : {SIGINT, SIGTERM}) {
        child_process child([](int out) { return real_run(hangs_while_it_cleans_up(out)); });
        EXPECT_EQ(child.read_until('\n'), "waits\n");
        child.send(SIGINT);
        EXPECT_EQ(child.read_until('\n'), "cleaning\n");
        child.send(second);
        EXPECT_EQ(child.end(), "signal " + std::to_string(second));
    }
}

TEST(stop_on_signals, a_signal_after_run_has_its_default_action) {
    child_process child([](int) {
        if (real_run([]() -> ps::task<> { co_return; }()) != 0) return 3;
        ::raise(SIGTERM);
        return 4;
    });
    EXPECT_EQ(child.end(), "signal " + std::to_string(SIGTERM));
}

TEST(stop_on_signals, a_handler_that_the_program_puts_in_its_place_stays) {
    child_process child([](int) {
        ::setenv("PITSAW_DRIVER", "epoll", 1);
        ps::runtime rt;
        ps::stop_on_signals const signals(rt);
        auto const mine = [](int) {};
        ::signal(SIGTERM, mine);
        ::raise(SIGINT);
        auto const still = ::signal(SIGTERM, SIG_DFL);
        return still == static_cast<void (*)(int)>(mine) ? 0 : 3;
    });
    EXPECT_EQ(child.end(), "exit 0");
}

ps::task<> raises(int signal) {
    ::raise(signal);
    co_await ps::sleep(1h);
}

TEST(stop_on_signals, each_run_of_a_process_is_stopped_by_its_own_signal) {
    child_process child([](int) {
        for (int i = 0; i < 20; ++i)
            if (real_run(raises(i % 2 == 0 ? SIGINT : SIGTERM)) != 0) return 3;
        return 0;
    });
    EXPECT_EQ(child.end(), "exit 0");
}

ps::task<> unblocks_a_pending_signal() {
    sigset_t one;
    ::sigemptyset(&one);
    ::sigaddset(&one, SIGINT);
    ::pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
    co_await ps::sleep(1h);
}

TEST(stop_on_signals, one_that_was_pending_before_run_stops_it_when_it_comes_through) {
    child_process child([](int) {
        sigset_t one;
        ::sigemptyset(&one);
        ::sigaddset(&one, SIGINT);
        ::pthread_sigmask(SIG_BLOCK, &one, nullptr);
        ::raise(SIGINT);
        return real_run(unblocks_a_pending_signal());
    });
    EXPECT_EQ(child.end(), "exit 0");
}

std::sig_atomic_t volatile handled = 0;

TEST(stop_on_signals, leaves_a_signal_that_the_program_handles_or_ignores) {
    child_process child([](int) {
        std::signal(SIGINT, [](int) { handled = handled + 1; });
        std::signal(SIGTERM, SIG_IGN);
        auto const body = []() -> ps::task<> {
            ::raise(SIGINT);
            ::raise(SIGTERM);
            co_await ps::sleep(1ms);
            if (handled != 1) ::_exit(5);
        };
        if (real_run(body()) != 0) return 3;
        ::raise(SIGINT);
        ::raise(SIGTERM);
        return handled == 2 ? 0 : 4;
    });
    EXPECT_EQ(child.end(), "exit 0");
}

ps::task<bool> sees_its_mask() {
    sigset_t now;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &now);
    co_return ::sigismember(&now, SIGINT) == 1 || ::sigismember(&now, SIGUSR1) == 1;
}

TEST(stop_on_signals, changes_no_threads_mask) { // FP5
    ps::runtime rt;
    ps::stop_on_signals const signals(rt);
    EXPECT_FALSE(ps::sync_wait(rt, sees_its_mask()).value());
}

ps::task<> an_hour() { co_await ps::sleep(1h); }

TEST(stop_on_signals, the_stops_reason_is_a_shutdown) {
    child_process child([](int) {
        ::setenv("PITSAW_DRIVER", "epoll", 1);
        ps::runtime rt;
        ps::stop_on_signals const signals(rt);
        ps::stop_on_signals const second(rt); // has nothing to do
        ::raise(SIGINT);
        auto const end = ps::sync_wait(rt, an_hour());
        return end.is_stopped() && end.reason() == ps::stop_reason::shutdown ? 0 : 1;
    });
    EXPECT_EQ(child.end(), "exit 0");
}

} // namespace
