// Leaves that are broken on purpose, as the next one that somebody writes may be: the harness must notice
// each, or its silence about the library's own leaves says nothing. Each comes with its sound sibling in
// the same body. Drivers that are broken stand in tests/driver/canary_test.cpp, combinators in
// canary_scopes_test.cpp, the atomic protocols of a wake in tests/model/inbox_test.cpp.
#include "stream_leaves.hpp"

#include <pitsaw/io/stream_operation.hpp>
#include <pitsaw/sim/check_stop.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using ps::testing::receive_some;
using ps::testing::send_some;

namespace {

struct byte_books {
    std::size_t sent = 0, received = 0, readable = 0;

    [[nodiscard]] std::string wrong() const {
        return sent == received + readable ? "" : "bytes were lost between driver and coroutine";
    }
};

ps::task<> note_readable(ps::sim::world* in, ps::descriptor end, byte_books* books) {
    books->readable = in->readable_bytes(end);
    co_return;
}

ps::task<> send_soon(ps::descriptor to, byte_books& books) {
    std::array<std::byte, 8> const bytes{};
    co_await ps::sleep(1ms);
    auto const sent = co_await send_some(to, bytes);
    books.sent += sent.value_or(0);
}

template <class Receive> ps::task<> receive_once(ps::descriptor from, byte_books& books) {
    std::array<std::byte, 8> into{};
    auto const got = co_await Receive(from, into);
    books.received += got.value_or(0);
}

/// One receive of some bytes, and the books about them.
template <class Receive> struct one_receive {
    byte_books books;

    ps::task<> operator()(ps::sim::world& in) {
        books = {};
        auto const ends = in.make_stream_pair();
        co_await ps::at_exit(note_readable, &in, ends.first, &books);
        (void)co_await ps::when_all(receive_once<Receive>(ends.first, books), send_soon(ends.second, books));
    }
};

template <class Receive> ps::sim::stop_report report_on() {
    one_receive<Receive> body;
    ps::sim::check_stop_options options;
    options.seeds = 4;
    options.verify = [&body](bool) { return body.books.wrong(); };
    return ps::sim::check_stop(body, options);
}

TEST(canary_leaves, the_sound_sibling_passes) {
    auto const report = report_on<receive_some>();
    EXPECT_TRUE(report) << report;
    EXPECT_GT(report.stopped_runs(), 0u);
}

// ---- A cancel that is lost

struct loses_its_cancel : receive_some {
    loses_its_cancel(ps::descriptor from, std::span<std::byte> into) noexcept : receive_some(from, into) {
        ask = [](ps::waiter&) noexcept {};
    }
};

TEST(canary_leaves_death_test, a_lost_cancel_is_a_run_that_never_ends) {
    EXPECT_DEATH((void)report_on<loses_its_cancel>(), "suspension .*stop wins.*canary_leaves.*never ends");
}

// ---- A frame that goes while the driver has it on loan

/// Stops at once when it is asked, and leaves the operation to the driver.
class does_not_wait_for_the_final_event : public receive_some {
  public:
    does_not_wait_for_the_final_event(ps::descriptor from, std::span<std::byte> into) noexcept
        : receive_some(from, into) {
        ask = [](ps::waiter& self) noexcept {
            auto& leaf = static_cast<does_not_wait_for_the_final_event&>(self);
            auto& worker = *leaf.header_->env->executor;
            worker.io->cancel(leaf);
            --worker.operations; // so that the worker's own count does not tell on it
            leaf.header_->stop_here();
        };
    }
};

/// Who swallows the stop goes on at once, and with that the frame of the receive is gone.
ps::task<> receive_what_is_there(ps::sim::world& in) {
    byte_books books;
    auto const ends = in.make_stream_pair();
    co_await send_soon(ends.second, books);
    (void)co_await ps::as_outcome(receive_once<does_not_wait_for_the_final_event>(ends.first, books));
}

TEST(canary_leaves_death_test, a_frame_destroyed_while_it_is_lent_is_noticed) {
    ps::sim::check_stop_options options;
    options.seeds = 16; // in half of them the receive is not done at once
    EXPECT_DEATH((void)ps::sim::check_stop(receive_what_is_there, options),
                 "an operation was destroyed while it was in flight|use-after-free");
}

/// The same of the buffer alone: the operation is waited for, its bytes were somebody's who has gone.
class lends_a_buffer_that_goes : public receive_some {
  public:
    lends_a_buffer_that_goes(ps::descriptor from, std::span<std::byte> into) noexcept
        : receive_some(from, into), lent_(into) {
        ask = [](ps::waiter& self) noexcept {
            auto& leaf = static_cast<lends_a_buffer_that_goes&>(self);
            std::ranges::fill(leaf.lent_, std::byte{}); // whoever has this memory next writes to it
            leaf.header_->env->executor->io->cancel(leaf);
        };
    }

  private:
    std::span<std::byte> lent_;
};

TEST(canary_leaves_death_test, a_buffer_that_is_used_while_it_is_lent_is_noticed) {
    EXPECT_DEATH((void)report_on<lends_a_buffer_that_goes>(),
                 "driver law 2 .loan.: the owner wrote to the buffer");
}

// ---- A result that is there and not delivered

/// Takes a requested stop for the result.
class prefers_the_stop : public receive_some {
  public:
    prefers_the_stop(ps::descriptor from, std::span<std::byte> into) noexcept : receive_some(from, into) {
        on_event = [](ps::operation& self, ps::event const& done) noexcept {
            auto& leaf = static_cast<prefers_the_stop&>(self);
            auto& header = *leaf.header_;
            if (!header.env->stop.stop_requested()) return ended(self, done);
            --header.env->executor->operations;
            header.stop_here();
        };
    }
};

TEST(canary_leaves, a_completed_result_that_is_dropped_for_a_stop_is_noticed) {
    auto const report = report_on<prefers_the_stop>();
    EXPECT_FALSE(report);
    EXPECT_NE(report.failures().find("bytes were lost"), std::string::npos) << report;
}

/// Takes the bytes that came in a buffer of the pool, and forgets the buffer.
class keeps_the_buffer : public ps::pooled_receive_operation {
  public:
    keeps_the_buffer(ps::descriptor from, std::span<std::byte>) noexcept : pooled_receive_operation(from) {}
    [[nodiscard]] ps::io_result<std::size_t> await_resume() noexcept {
        flags_ = ps::event_flag::none;
        return ps::to_result(done());
    }
};

TEST(canary_leaves, a_buffer_that_is_not_given_back_is_noticed) {
    auto const report = report_on<keeps_the_buffer>();
    EXPECT_FALSE(report);
    EXPECT_NE(report.failures().find("pool buffers not given back"), std::string::npos) << report;
}

// ---- A wake that is missed

// `keeps_no_permit` is LW5's kind.
enum class gate_fault : std::uint8_t { none, forgets_who_waits, keeps_no_permit, withdraws_the_others };

/// Opens once, for two who wait.
class gate {
  public:
    explicit gate(gate_fault with) noexcept : fault_(with) {}

    class [[nodiscard]] wait_leaf : ps::waiter {
      public:
        wait_leaf(gate& at, std::size_t place) noexcept : waiter(withdraw), at_(at), place_(place) {}
        [[nodiscard]] std::coroutine_handle<> start(ps::promise_header& header) noexcept {
            if (header.env->stop.stop_requested()) return header.stop_here();
            if (at_.is_open_) return transfer(header);
            at_.waiting_[place_] = &header;
            return header.suspend_at(*this);
        }
        void await_resume() const noexcept {}

      private:
        static void withdraw(waiter& self) noexcept {
            auto& leaf = static_cast<wait_leaf&>(self);
            auto& header = *std::exchange(leaf.at_.waiting_[leaf.place_], nullptr);
            if (leaf.at_.fault_ == gate_fault::withdraws_the_others) leaf.at_.waiting_ = {};
            header.stop_here();
        }

        gate& at_;
        std::size_t place_;
    };

    [[nodiscard]] wait_leaf wait(std::size_t place) noexcept { return wait_leaf(*this, place); }
    void open() noexcept {
        is_open_ = fault_ != gate_fault::keeps_no_permit;
        if (fault_ == gate_fault::forgets_who_waits) return;
        for (auto& each : waiting_)
            if (auto* const header = std::exchange(each, nullptr)) header->complete_here();
    }

  private:
    gate_fault fault_;
    bool is_open_ = false;
    std::array<ps::promise_header*, 2> waiting_{};
};

ps::task<> open_after(gate& which, ps::duration after) {
    co_await ps::sleep(after);
    which.open();
}
ps::task<> come_late(gate& which) {
    co_await ps::sleep(3ms);
    co_await which.wait(0);
}

ps::task<> leave_early(gate& which) { (void)co_await ps::with_timeout(1ms, which.wait(0)); }

/// One who leaves before the gate opens, one who waits for it, one who comes when it is open.
ps::task<> meet_at(gate_fault with) {
    gate which(with);
    (void)co_await ps::when_all(leave_early(which), which.wait(1), open_after(which, 2ms), come_late(which));
}

TEST(canary_leaves, the_sound_gate_passes) {
    auto const report = ps::sim::check_stop([] { return meet_at(gate_fault::none); });
    EXPECT_TRUE(report) << report;
}
TEST(canary_leaves_death_test, a_wake_that_is_forgotten_is_a_deadlock_that_is_named) {
    auto const run = [](gate_fault with) {
        return (void)ps::sim::check_stop([with] { return meet_at(with); });
    };
    EXPECT_DEATH(run(gate_fault::forgets_who_waits), "undisturbed.*never ends: every task waits");
    EXPECT_DEATH(run(gate_fault::keeps_no_permit), "undisturbed.*never ends: every task waits");
    EXPECT_DEATH(run(gate_fault::withdraws_the_others), "undisturbed.*never ends: every task waits");
}
TEST(canary_leaves_death_test, a_wake_that_is_forgotten_is_a_deadlock_in_a_plain_world) {
    auto const run = [] {
        ps::sim::world in;
        (void)in.run(meet_at(gate_fault::forgets_who_waits));
    };
    EXPECT_DEATH(run(), "deadlock: every task waits");
}

} // namespace
