#include "os/posix/termination_signals.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <new>

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>

namespace pitsaw::inline v0 {
namespace {

constexpr std::array<int, 2> watched{SIGINT, SIGTERM};

// All that a handler can reach is what is global. It may still run on some thread when its watch is over, so
// this is never destroyed.
struct signal_state {
    std::atomic<bool> is_watched = false;                   // any thread: there is a watch
    std::array<std::atomic<bool>, watched.size()> is_taken; // the watch, at its two ends
    std::atomic<bool> has_arrived = false;                  // the handler
    std::atomic<bool> is_over = false;                      // termination_signals::end
    sem_t changed;                                          // posted after each of the last two

    signal_state() noexcept { ::sem_init(&changed, 0, 0); }
};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler takes no lock");

signal_state& state() noexcept {
    alignas(signal_state) static std::byte memory[sizeof(signal_state)];
    static auto* const made = ::new (memory) signal_state;
    return *made;
}

void give_default_action(int const signal) noexcept {
    struct sigaction action = {};
    action.sa_handler = SIG_DFL;
    ::sigaction(signal, &action, nullptr);
}

void arrived(int) noexcept;

/// Whether nobody has put another handler in place of ours.
[[nodiscard]] bool is_still_ours(int const signal) noexcept {
    struct sigaction now = {};
    return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == arrived;
}

// Calls nothing but what signal-safety(7) lists; `state` has been called before the handler was installed.
void arrived(int) noexcept {
    auto const saved = errno;
    auto& shared = state();
    for (std::size_t i = 0; i < watched.size(); ++i)
        if (shared.is_taken[i].exchange(false) && is_still_ours(watched[i])) give_default_action(watched[i]);
    shared.has_arrived.store(true);
    ::sem_post(&shared.changed);
    errno = saved;
}

/// Takes the signal if it has its default action.
[[nodiscard]] bool take(int const signal, std::atomic<bool>& is_taken) noexcept {
    struct sigaction before = {};
    if (::sigaction(signal, nullptr, &before) != 0) return false;
    if ((before.sa_flags & SA_SIGINFO) != 0 || before.sa_handler != SIG_DFL) return false;
    struct sigaction ours = {};
    ours.sa_handler = arrived;
    ours.sa_flags = SA_RESTART; // of the program's own calls
    for (auto const other : watched) ::sigaddset(&ours.sa_mask, other);
    is_taken.store(true); // before the handler can run
    if (::sigaction(signal, &ours, nullptr) == 0) return true;
    is_taken.store(false);
    return false;
}

} // namespace

termination_signals::termination_signals() noexcept : is_first_(!state().is_watched.exchange(true)) {
    if (!is_first_) return;
    auto& shared = state();
    shared.has_arrived.store(false);
    shared.is_over.store(false);
    for (std::size_t i = 0; i < watched.size(); ++i)
        if (take(watched[i], shared.is_taken[i])) is_watching_ = true;
}

termination_signals::~termination_signals() {
    if (!is_first_) return;
    auto& shared = state();
    for (std::size_t i = 0; i < watched.size(); ++i)
        if (shared.is_taken[i].exchange(false) && is_still_ours(watched[i])) give_default_action(watched[i]);
    shared.is_watched.store(false);
}

bool termination_signals::wait() noexcept {
    auto& shared = state();
    for (;;) {
        if (shared.has_arrived.load()) return true;
        if (shared.is_over.load()) return false;
        (void)::sem_wait(&shared.changed); // EINTR: looks again
    }
}

void termination_signals::end() noexcept {
    state().is_over.store(true);
    ::sem_post(&state().changed);
}

static_assert(sizeof(sigset_t) <= sizeof(std::array<std::byte, 128>));

all_signals_blocked::all_signals_blocked() noexcept {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, ::new (before_.data()) sigset_t);
}

all_signals_blocked::~all_signals_blocked() {
    ::pthread_sigmask(SIG_SETMASK, std::launder(reinterpret_cast<sigset_t const*>(before_.data())), nullptr);
}

} // namespace pitsaw::inline v0
