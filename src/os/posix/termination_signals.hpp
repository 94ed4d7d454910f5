#pragma once
#include <array>
#include <cstddef>

namespace pitsaw::inline v0 {

/// Takes SIGINT and SIGTERM over for a while: the first that comes ends `wait`, and from it on both have
/// their default action again, so that a second one ends the process.
///
/// ```
/// termination_signals signals;
/// if (signals.wait()) stop_everything();
/// ```
/// A signal that the program handles or ignores already stays as it is. A handler rather than a blocked mask:
/// it works whichever thread the signal meets, and neither threads nor child processes inherit anything.
/// Lifetime: restores at its end what it took. One at a time in a process: a second one takes nothing.
/// Threads: `wait` on any one, `end` on any. Errors: none.
class termination_signals {
  public:
    termination_signals() noexcept;
    termination_signals(termination_signals&&) = delete;
    ~termination_signals();

    /// Whether there is something to wait for.
    [[nodiscard]] bool is_watching() const noexcept { return is_watching_; }

    /// Blocks until a signal has come, true, or until `end`.
    [[nodiscard]] bool wait() noexcept;
    void end() noexcept;

  private:
    bool is_first_; // the process's only one
    bool is_watching_ = false;
};

/// Blocks every signal on this thread, and so on those that it starts meanwhile.
class all_signals_blocked {
  public:
    all_signals_blocked() noexcept;
    all_signals_blocked(all_signals_blocked&&) = delete;
    ~all_signals_blocked();

  private:
    alignas(std::max_align_t) std::array<std::byte, 128> before_; // a sigset_t
};

} // namespace pitsaw::inline v0
