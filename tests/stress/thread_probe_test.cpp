#include "os/linux/thread_activity.hpp"
#include "os/posix/thread_probe.hpp"

#include "observed_runtime.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <optional>
#include <thread>

namespace {

using namespace pitsaw;
using pitsaw::testing::watchdog;

void block_probes(bool const is_blocked) {
    sigset_t probes;
    ::sigemptyset(&probes);
    ::sigaddset(&probes, SIGRTMIN + 7);
    ::pthread_sigmask(is_blocked ? SIG_BLOCK : SIG_UNBLOCK, &probes, nullptr);
}

/// A thread that blocks probes until it is told otherwise.
class deaf_thread {
  public:
    deaf_thread() : thread_([this] { serve(); }) {
        while (number_.load() == 0) std::this_thread::yield();
    }
    deaf_thread(deaf_thread&&) = delete;
    ~deaf_thread() {
        is_over_.store(true);
        thread_.join();
    }

    [[nodiscard]] std::int32_t number() const { return number_.load(); }
    [[nodiscard]] pthread_t native() { return thread_.native_handle(); }
    /// Lets what is pending come, and is deaf again.
    void listen() {
        listens_.store(true);
        while (listens_.load()) std::this_thread::yield();
    }

  private:
    void serve() {
        block_probes(true);
        number_.store(number_of_this_task());
        while (!is_over_.load()) {
            if (listens_.load()) {
                thread_probe::let_late_signals_come();
                listens_.store(false);
            }
            std::this_thread::yield();
        }
    }

    std::atomic<std::int32_t> number_ = 0;
    std::atomic<bool> listens_ = false;
    std::atomic<bool> is_over_ = false;
    std::thread thread_; // the last: it uses the others
};

void note_thread(void* const into) noexcept {
    static_cast<std::atomic<std::int32_t>*>(into)->store(number_of_this_task());
}

TEST(thread_probe, a_late_answer_is_not_taken_for_anothers) {
    watchdog const guard;
    std::atomic<std::int32_t> looked = 0;
    thread_probe probe(note_thread, &looked);
    deaf_thread first, second;
    EXPECT_FALSE(probe.ask(first.native(), first.number())); // it does not answer in time
    std::atomic<bool> is_answered = false;
    std::thread asks([&] {
        while (!probe.ask(second.native(), second.number())) {
        }
        is_answered.store(true);
    });
    for (int i = 0; i < 20; ++i) first.listen(); // its old signal comes while the other is asked
    EXPECT_EQ(looked.load(), 0);
    while (!is_answered.load()) second.listen();
    asks.join();
    EXPECT_EQ(looked.load(), second.number());
    EXPECT_FALSE(probe.native_stack().empty());
}

TEST(thread_probe, may_go_once_a_deaf_thread_has_let_its_signals_come) {
    watchdog const guard;
    std::atomic<std::int32_t> looked = 0;
    std::optional<thread_probe> probe(std::in_place, note_thread, &looked);
    deaf_thread asked;
    EXPECT_FALSE(probe->ask(asked.native(), asked.number()));
    asked.listen();
    probe.reset(); // a signal that came later would look for it here, which a sanitizer reports
    asked.listen();
    EXPECT_EQ(looked.load(), 0);
}

} // namespace
