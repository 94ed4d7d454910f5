#include "driver/law_loop.hpp"
#include "driver/laws.hpp"

#include <array>
#include <atomic>
#include <thread>

namespace pitsaw::laws {

auto wake_before_poll_is_kept(law_subject& subject) -> finding {
    law_loop loop(subject);
    auto const [left, right] = subject.connected_pair();
    loop.submit(loop.make_receive(left, 1));
    for (int i = 0; i < 10; ++i) {
        for (int wakes = 0; wakes <= i; ++wakes) loop.wake();
        auto const until = loop.io().now() + std::chrono::seconds(5);
        if (loop.turn(until) != 0) return "law 1: an event out of nothing";
        if (loop.io().now() >= until) return "law 14: a wake before poll was lost";
        // Wakes add up to one: the next poll waits again.
        auto const soon = loop.io().now() + std::chrono::milliseconds(1);
        loop.turn(soon);
        if (loop.io().now() < soon) return "law 6: poll returned nothing before `until` without a wake";
    }
    if (!loop.end_all()) return "law 3: a cancel was lost";
    return loop.finding();
}

TEST_P(driver_laws, wake_before_poll_is_kept) { expect(wake_before_poll_is_kept); } // law 14

/// Waits without a deadline, for a deadline would hide a lost wake: the runner's time limit ends it.
auto wake_during_poll_ends_it(law_subject& subject) -> finding {
    auto& driver = subject.io();
    std::array<event, 4> out;
    for (int i = 0; i < 50; ++i) {
        int written = 0; // by the waker, before the wake
        std::atomic<bool> polling = false;
        std::thread waker([&] {
            polling.wait(false);
            if (i % 2 == 0) std::this_thread::yield();
            written = 1;
            driver.wake();
        });
        polling = true;
        polling.notify_one();
        auto const count = driver.poll(out, never);
        auto const seen = written; // no other synchronisation than the wake: the sanitizer judges
        waker.join();
        if (count != 0) return "law 1: an event out of nothing";
        if (seen != 1) return "law 14: what the waker wrote is not visible after poll";
    }
    return {};
}

TEST_P(driver_laws, wake_during_poll_ends_it) { expect(wake_during_poll_ends_it); } // law 14

auto no_wake_of_many_threads_is_lost(law_subject& subject) -> finding {
    auto& driver = subject.io();
    std::atomic<int> posted = 0;
    constexpr int each = 500;
    std::array<std::thread, 4> threads;
    for (auto& thread : threads)
        thread = std::thread([&] {
            for (int i = 0; i < each; ++i) {
                posted.fetch_add(1, std::memory_order_relaxed); // relaxed: the wake publishes it
                driver.wake();
                if (i % 16 == 0) std::this_thread::yield();
            }
        });
    std::array<event, 4> out;
    std::size_t events = 0;
    while (posted.load(std::memory_order_relaxed) != each * static_cast<int>(threads.size()))
        events += driver.poll(out, never);
    for (auto& thread : threads) thread.join();
    (void)driver.poll(out, driver.now()); // takes what the last wakes left
    return events == 0 ? "" : "law 1: an event out of nothing";
}

TEST_P(driver_laws, no_wake_of_many_threads_is_lost) {
    expect(no_wake_of_many_threads_is_lost);
} // law 14, LW12

auto drain_ends_everything(law_subject& subject) -> finding {
    law_loop loop(subject);
    auto const before = subject.open_objects();
    auto const [left, right] = subject.connected_pair();
    for (int i = 0; i < 100; ++i) loop.submit(loop.make_receive(left, 8));
    if (!loop.send_all(right, 0, 40)) return "nothing can be sent";
    auto const kept = subject.connected_pair(); // drain has to end what is on it, nothing else does
    for (int i = 0; i < 10; ++i) loop.submit(loop.make_receive(kept.first, 8));
    for (int i = 0; i < 10; ++i) loop.submit(loop.make_send(right, pattern(0, 64)));
    loop.io().discard(left);
    loop.io().discard(right);
    auto const deadline = loop.io().now() + law_loop::patience;
    std::array<event, 8> out;
    auto left_over = std::size_t{1};
    while (left_over != 0 && loop.io().now() < deadline) {
        auto const in_flight = loop.in_flight();
        auto const progress = loop.io().drain(out, deadline);
        if (progress.events > out.size()) return "law 8: drain wrote beyond its span";
        for (auto const& e : std::span(out).first(progress.events)) e.op->on_event(*e.op, e);
        if (loop.in_flight() != in_flight - progress.events)
            return "law 15: drain made an event out of nothing";
        left_over = progress.remaining;
        if (left_over < loop.in_flight()) return "law 15: drain says that less remains than is in flight";
        if (loop.in_flight() > 0 && progress.oldest == nullptr)
            return "law 15: drain does not name what remains";
    }
    if (left_over != 0 || loop.in_flight() != 0)
        return text("law 15: ", loop.in_flight(), " operations remain");
    if (subject.open_objects() != before + 2)
        return "law 15: a discarded descriptor is still open after drain";
    return loop.finding();
}

TEST_P(driver_laws, drain_ends_everything) { expect(drain_ends_everything); } // law 15, CA6

} // namespace pitsaw::laws
