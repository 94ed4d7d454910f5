#pragma once
#include <memory>

namespace pitsaw::inline v0 {

class runtime;

/// While it lives, SIGINT and SIGTERM stop a runtime: what `run` does for a program's main task.
///
/// ```cpp
/// ps::runtime rt;
/// ps::stop_on_signals const signals(rt);
/// auto end = ps::sync_wait(rt, serve());       // Ctrl-C: stopped, with stop_reason::shutdown
/// ```
/// The first signal stops; from it on both have their default action again, so that a second one ends the
/// process at once, however long the clean-ups take. A signal that the program handles or ignores itself is
/// left to it: a job that was started in the background ignores SIGINT.
/// Lifetime: the runtime must outlive it. It gives the signals back at its end; one that came shortly before
/// is spent. Of several in a process at a time the first has the signals. Threads: it has a thread of its
/// own, which sleeps and blocks every signal, so that no handler of the program runs there. No thread and no
/// child process inherits anything. Errors: std::bad_alloc, and std::system_error if no thread can be had.
/// Stopping: it stops the runtime. Sizes: none.
class stop_on_signals {
  public:
    explicit stop_on_signals(runtime& which);
    stop_on_signals(stop_on_signals&&) = delete;
    ~stop_on_signals();

  private:
    struct parts;
    std::unique_ptr<parts> parts_;
};

} // namespace pitsaw::inline v0
