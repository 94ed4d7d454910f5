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
/// With it stands the number of the thread that is asked: a signal that comes late to another does nothing.
///
/// Lifetime: it outlives each thread that was asked, or that thread has called `let_late_signals_come` since.
/// Threads: one asks at a time; the handler runs on the asked. The stack is that of backtrace(3), which the
/// manual calls safe in a handler once it has been called before.
class thread_probe {
  public:
    /// What is looked at beside the native stack; in the handler, so it may do only what signal-safety(7)
    /// says.
    using look = void (*)(void* argument) noexcept;

    thread_probe(look what, void* argument) noexcept;
    thread_probe(thread_probe&&) = delete;

    /// False: the program handles the signal itself, or the thread did not answer within a tenth of a second.
    /// `number` is the thread's `number_of_this_task`.
    [[nodiscard]] bool ask(pthread_t thread, std::int32_t number) noexcept;

    /// When this returns, no signal of a probe is on its way to the calling thread, also if it blocks them.
    /// By who has made sure that nobody asks it any more.
    static void let_late_signals_come() noexcept;

    /// After an `ask` that was true: what the thread executed, innermost first.
    [[nodiscard]] std::vector<std::string> native_stack() const;

  private:
    enum state : std::uint64_t { idle, asked, looking, seen };
    [[nodiscard]] static auto word_of(std::int32_t thread, state what) noexcept -> std::uint64_t {
        return std::uint64_t{static_cast<std::uint32_t>(thread)} << 2 | what;
    }

    static void arrived(int signal, void* information, void* context) noexcept;
    friend struct thread_probe_handler;

    look what_;
    void* argument_;
    std::atomic<std::uint64_t> state_ = idle; ///< and the thread's number
    std::array<void*, 64> frames_;
    int frame_count_ = 0;
};

} // namespace pitsaw::inline v0
