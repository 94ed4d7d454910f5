#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <pthread.h>

namespace pitsaw::inline v0 {

/// Looks at what another thread is doing, by interrupting it: a signal handler runs on it, notes its native
/// stack and calls `look`, while the thread stands still.
///
/// | `state_`  | written by                  | meaning                                        |
/// |-----------|-----------------------------|------------------------------------------------|
/// | `idle`    | who asks, at the end        | a handler that comes too late does nothing     |
/// | `asked`   | who asks                    | the signal is on its way                       |
/// | `looking` | the handler                 | it writes; who asks waits for as long          |
/// | `seen`    | the handler                 | what it has written belongs to who asks        |
///
/// Lifetime: it outlives each thread that was asked, or that thread has been in a call of the system since:
/// that is when a signal that was sent arrives. Threads: one asks at a time; the handler runs on the asked.
/// The stack is that of backtrace(3), which the manual calls safe in a handler once it has been called
/// before.
class thread_probe {
  public:
    /// What is looked at beside the native stack; in the handler, so it may do only what signal-safety(7)
    /// says.
    using look = void (*)(void* argument) noexcept;

    thread_probe(look what, void* argument) noexcept;
    thread_probe(thread_probe&&) = delete;

    /// False: the program handles the signal itself, or the thread did not answer within a tenth of a second.
    [[nodiscard]] bool ask(pthread_t thread) noexcept;

    /// After an `ask` that was true: what the thread executed, innermost first.
    [[nodiscard]] std::vector<std::string> native_stack() const;

  private:
    enum class state : std::uint8_t { idle, asked, looking, seen };

    static void arrived(int signal, void* information, void* context) noexcept;
    friend struct thread_probe_handler;

    look what_;
    void* argument_;
    std::atomic<state> state_ = state::idle;
    std::array<void*, 64> frames_;
    int frame_count_ = 0;
};

} // namespace pitsaw::inline v0
