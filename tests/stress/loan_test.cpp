// The loan law by force: receives are stopped at random on real drivers while a peer on another thread
// sends on, so that bytes arrive between any two steps of a cancel.
#include "stress/random_stops.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <sys/socket.h>
#include <unistd.h>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using ps::testing::is_timed_out;
using ps::testing::random_time;

namespace {

using result = ps::task<ps::io_result<void>>;

constexpr int receives = 10'000;
constexpr std::byte poison{0xAA};

constexpr std::byte loan_counter(std::size_t at) { return static_cast<std::byte>(at % 251); }

/// Sends a counting stream, in small pieces and at random moments, whether anybody receives or not.
class restless_peer {
  public:
    restless_peer(int fd, std::uint64_t seed) : fd_(fd), random_(seed), thread_([this] { send_pieces(); }) {}
    restless_peer(restless_peer&&) = delete;
    ~restless_peer() {
        if (thread_.joinable()) (void)finish();
    }

    /// Finishes the stream; the bytes that were sent.
    [[nodiscard]] std::size_t finish() {
        is_over_ = true;
        thread_.join();
        ::close(fd_);
        return sent_;
    }
    /// So that it stays a little ahead, however the two threads are scheduled: a receive sometimes finds
    /// bytes, and sometimes waits.
    void note_received(std::size_t all) { received_ = all; }

  private:
    static constexpr std::size_t ahead_max = 1'000;

    void send_pieces() {
        std::array<std::byte, 100> piece{};
        while (!is_over_) {
            if (sent_ < received_ + ahead_max) {
                auto const size = 1 + random_.below(piece.size());
                for (std::size_t i = 0; i < size; ++i) piece[i] = loan_counter(sent_ + i);
                auto const done = ::send(fd_, piece.data(), size, MSG_DONTWAIT | MSG_NOSIGNAL);
                if (done > 0) sent_ += static_cast<std::size_t>(done);
            }
            // Most of the time only the moment that a send takes, so that sends meet cancels.
            if (random_.chance(0.3))
                std::this_thread::sleep_for(random_time(random_, 100us));
            else
                for (auto turns = random_.below(1'000); turns > 0; --turns) (void)is_over_.load();
        }
    }

    int fd_;
    ps::random_source random_;
    std::size_t sent_ = 0; // the thread's, until it has been joined
    std::atomic<std::size_t> received_ = 0;
    std::atomic<bool> is_over_ = false;
    std::thread thread_;
};

struct loan_books {
    explicit loan_books(std::uint64_t seed) : random(seed) {}
    ps::random_source random;
    std::size_t reported = 0;
    int completed = 0, stopped = 0;

    void expect_next(std::span<std::byte const> bytes) {
        for (auto const byte : bytes) EXPECT_EQ(byte, loan_counter(reported++));
    }
};

ps::task<> yield_times(std::uint64_t count) {
    for (; count > 0; --count) co_await ps::this_task::yield();
}

/// What a receive that is stopped at a random moment came to: empty, if it stopped. Half of the stops come
/// from a timer, which fires after the driver was polled; half from a sibling, while the loop resumes.
template <class Receive>
auto stop_at_random(Receive receive, ps::random_source& random)
    -> ps::task<std::optional<std::decay_t<decltype(receive().await_resume())>>> {
    using received = std::decay_t<decltype(receive().await_resume())>;
    std::optional<received> end;
    if (random.chance(0.5)) {
        auto const time = random_time(random, 100us);
        auto got = co_await ps::with_timeout(time, receive());
        if (got.has_value() || !is_timed_out(got.error())) end.emplace(std::move(got));
    } else {
        auto both = co_await ps::when_any(receive(), yield_times(random.below(30)));
        if (auto& got = std::get<0>(both); got.has_value()) end.emplace(std::move(*got));
    }
    co_return end;
}

/// How many bytes it was; the end of the stream has no place here, and no error but a stop.
template <class Received>
ps::io_result<std::size_t> size_of(std::optional<Received> const& end, loan_books& books) {
    if (!end.has_value()) {
        ++books.stopped;
        return std::size_t{0};
    }
    if (!end->has_value()) return std::unexpected(end->error());
    std::size_t size = 0;
    if constexpr (requires { (**end).size(); })
        size = (**end).size();
    else
        size = **end;
    ++books.completed;
    EXPECT_GT(size, 0u) << "neither bytes nor a stop";
    return size;
}

void expect_both_ends(loan_books const& books) {
    EXPECT_EQ(books.completed + books.stopped, receives);
    EXPECT_GT(books.completed, receives / 100);
    EXPECT_GT(books.stopped, receives / 100);
}

/// What is left in the stream continues what was reported, up to what was sent.
result expect_the_rest(ps::tcp_stream& from, restless_peer& peer, loan_books& books) {
    auto const sent = peer.finish();
    for (;;) {
        auto const chunk = co_await ps::or_return(from.receive());
        if (chunk.empty()) break;
        books.expect_next(chunk.bytes());
    }
    EXPECT_EQ(books.reported, sent);
    co_return {};
}

// ---- Into the caller's buffers

using lent_buffer = std::array<std::byte, 64>;

bool is_poisoned(std::span<std::byte const> bytes) {
    return std::ranges::all_of(bytes, [](auto one) { return one == poison; });
}

/// Each receive has another buffer, which comes again 64 receives later: nobody wrote to it since it was
/// poisoned.
result receive_into_poison(ps::tcp_stream& from, restless_peer& peer, loan_books& books,
                           std::vector<lent_buffer>& buffers) {
    for (int i = 0; i < receives; ++i) {
        auto& buffer = buffers[static_cast<std::size_t>(i) % buffers.size()];
        EXPECT_TRUE(is_poisoned(buffer)) << "written after the final end, before receive " << i;
        auto const receive = [&from, &buffer] { return from.receive(std::span<std::byte>(buffer)); };
        auto const end = co_await stop_at_random(receive, books.random);
        auto const size = co_await ps::or_return(size_of(end, books));
        books.expect_next(std::span(buffer).first(size));
        EXPECT_TRUE(is_poisoned(std::span(buffer).subspan(size))) << "more was written than reported";
        buffer.fill(poison);
        peer.note_received(books.reported);
        if (::testing::Test::HasFailure()) break;
    }
    co_return {};
}

result poison_after_the_end(std::pair<ps::native_handle, int> ends, std::uint64_t seed) {
    ps::environment const& env = co_await ps::this_task::get_environment();
    auto const own = co_await ps::or_return(env.executor->io->attach(ends.first));
    ps::tcp_stream from(env.executor, own);
    restless_peer peer(ends.second, seed + 1);
    loan_books books(seed);
    std::vector<lent_buffer> buffers(64);
    for (auto& buffer : buffers) buffer.fill(poison);
    co_await ps::or_return(receive_into_poison(from, peer, books, buffers));
    co_await ps::or_return(expect_the_rest(from, peer, books));
    expect_both_ends(books);
    for (auto const& buffer : buffers) EXPECT_TRUE(is_poisoned(buffer));
    co_return {};
}

// ---- Into buffers of the pool

/// Leases are kept while the peer sends on: what a lease holds is nobody else's until it goes.
result receive_leases(ps::tcp_stream& from, restless_peer& peer, loan_books& books) {
    std::vector<std::pair<ps::lease, std::vector<std::byte>>> kept(12); // and a pool has 16
    for (int i = 0; i < receives; ++i) {
        auto& [lease, copy] = kept[static_cast<std::size_t>(i) % kept.size()];
        EXPECT_TRUE(std::ranges::equal(lease.bytes(), copy)) << "a lease has changed";
        auto const receive = [&from] { return from.receive(); };
        auto end = co_await stop_at_random(receive, books.random);
        auto const size = co_await ps::or_return(size_of(end, books));
        if (size > 0) {
            lease = std::move(**end);
            copy.assign(lease.bytes().begin(), lease.bytes().end());
            books.expect_next(copy);
        }
        peer.note_received(books.reported);
        if (::testing::Test::HasFailure()) break;
    }
    co_return {};
}

result leases_are_nobody_elses(std::pair<ps::native_handle, int> ends, std::uint64_t seed) {
    ps::environment const& env = co_await ps::this_task::get_environment();
    auto const own = co_await ps::or_return(env.executor->io->attach(ends.first));
    ps::tcp_stream from(env.executor, own);
    restless_peer peer(ends.second, seed + 1);
    loan_books books(seed);
    co_await ps::or_return(receive_leases(from, peer, books));
    co_await ps::or_return(expect_the_rest(from, peer, books));
    expect_both_ends(books);
    co_return {};
}

class loan : public ::testing::TestWithParam<ps::testing::driver_name> {
  protected:
    template <class Body> void run(Body body, std::uint64_t otherwise) {
        auto const seed = ps::testing::stress_seed(otherwise);
        SCOPED_TRACE(ps::testing::say_seed(seed));
        int fds[2];
        ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
        ps::runtime_options few;
        few.pool_buffers = 16;
        ps::runtime rt(ps::testing::make_driver(GetParam()), few);
        auto const end = ps::sync_wait(rt, body({ps::native_handle(fds[0]), fds[1]}, seed));
        ASSERT_TRUE(end.has_value());
        EXPECT_TRUE(end.value().has_value()) << end.value().error().message();
    }
};

TEST_P(loan, a_buffer_is_never_written_after_the_end_of_its_receive) { // CA3, CA14
    run(poison_after_the_end, 31);
}
TEST_P(loan, a_lease_is_never_written_while_it_is_kept) { // CA3, IU12
    run(leases_are_nobody_elses, 32);
}

INSTANTIATE_TEST_SUITE_P(drivers, loan, ps::testing::real_drivers(), ps::testing::name_of_driver);

} // namespace
