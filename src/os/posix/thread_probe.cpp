#include "os/posix/thread_probe.hpp"

#include "os/linux/thread_activity.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

#include <execinfo.h>
#include <signal.h>

namespace pitsaw::inline v0 {

struct thread_probe_handler {
    static void run(int const signal, siginfo_t* const information, void* const context) noexcept {
        thread_probe::arrived(signal, information, context);
    }
};

namespace {

constexpr auto answers_within = std::chrono::milliseconds(100);
constexpr int frames_of_ours = 2; // the handler, and what the kernel returns from it to

// SIGRTMIN is a call, for the C library keeps some of them for itself.
int probe_signal() noexcept { return SIGRTMIN + 7; }

/// Whether the signal is ours, from now on for good: it does nothing when nobody is asked.
bool have_handler() noexcept {
    struct sigaction now = {};
    if (::sigaction(probe_signal(), nullptr, &now) != 0) return false;
    if ((now.sa_flags & SA_SIGINFO) != 0) return now.sa_sigaction == thread_probe_handler::run;
    if (now.sa_handler != SIG_DFL) return false;
    struct sigaction ours = {};
    ours.sa_sigaction = thread_probe_handler::run;
    ours.sa_flags = SA_SIGINFO | SA_RESTART;
    ::sigfillset(&ours.sa_mask);
    return ::sigaction(probe_signal(), &ours, nullptr) == 0;
}

} // namespace

thread_probe::thread_probe(look const what, void* const argument) noexcept
    : what_(what), argument_(argument) {
    frame_count_ = ::backtrace(frames_.data(), static_cast<int>(frames_.size())); // loads what it needs
}

void thread_probe::arrived(int, void* const information, void*) noexcept {
    auto const saved = errno;
    auto& self = *static_cast<thread_probe*>(static_cast<siginfo_t*>(information)->si_value.sival_ptr);
    auto const mine = number_of_this_task();
    auto expected = word_of(mine, asked);
    if (self.state_.compare_exchange_strong(expected, word_of(mine, looking))) {
        self.frame_count_ = ::backtrace(self.frames_.data(), static_cast<int>(self.frames_.size()));
        self.what_(self.argument_);
        self.state_.store(word_of(mine, seen));
    }
    errno = saved;
}

bool thread_probe::ask(pthread_t const thread, std::int32_t const number) noexcept {
    if (!have_handler()) return false;
    state_.store(word_of(number, asked));
    sigval value = {};
    value.sival_ptr = this;
    bool is_seen = ::pthread_sigqueue(thread, probe_signal(), value) == 0;
    auto const until = std::chrono::steady_clock::now() + answers_within;
    while (is_seen && state_.load() != word_of(number, seen)) {
        auto expected = word_of(number, asked);
        if (std::chrono::steady_clock::now() > until && state_.compare_exchange_strong(expected, idle))
            is_seen = false;
        else
            std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    state_.store(idle);
    return is_seen;
}

// A signal that is pending and let through arrives before the call returns: pthread_sigmask(3).
void thread_probe::let_late_signals_come() noexcept {
    sigset_t ours, before;
    ::sigemptyset(&ours);
    ::sigaddset(&ours, probe_signal());
    ::pthread_sigmask(SIG_UNBLOCK, &ours, &before);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

std::vector<std::string> thread_probe::native_stack() const {
    std::vector<std::string> lines;
    auto const free_it = [](char** const text) { std::free(static_cast<void*>(text)); };
    std::unique_ptr<char*, decltype(free_it)> const text(::backtrace_symbols(frames_.data(), frame_count_),
                                                         free_it);
    if (text == nullptr) return lines;
    for (int i = frames_of_ours; i < frame_count_; ++i) lines.emplace_back(text.get()[i]);
    return lines;
}

} // namespace pitsaw::inline v0
