#pragma once
#include "loop/pulse.hpp"
#include "os/linux/thread_activity.hpp"
#include "os/posix/thread_probe.hpp"

#include <pitsaw/executor/executor_ref.hpp>
#include <pitsaw/executor/stall.hpp>

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <source_location>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <pthread.h>

namespace pitsaw::inline v0 {

/// Looks at the workers of a runtime, and tells of one that has run a single resume for too long.
///
/// It wakes twice in a threshold while coroutines run, and ten times a second while none does. A worker that
/// only waits for a processor is not held up by its task, and not told of; nor is one that did not run
/// because the machine was suspended, which the watchdog sees by its own lateness.
///
/// Lifetime: the runtime's, and each worker leaves before. Threads: its own; `attend` and `leave` are called
/// by the worker's. Errors: std::system_error if there is no thread.
class stall_watchdog {
  public:
    stall_watchdog(stall_options options, std::size_t workers);
    stall_watchdog(stall_watchdog&&) = delete;
    ~stall_watchdog();

    /// Whoever calls runs `worker` from here on, and shows it by `shown`.
    void attend(executor& worker, std::uint32_t number, pulse const& shown) noexcept;
    /// No more. When this returns, no probe of the calling thread is on its way.
    void leave(executor const& worker) noexcept;

  private:
    using clock = std::chrono::steady_clock;

    struct watched {
        executor* worker;
        std::uint32_t number;
        pulse const* shown;
        pthread_t thread;
        std::int32_t task;
        std::uint64_t seen = 0;    ///< its pulse, at the last look
        clock::time_point since{}; ///< when that was new
        bool is_suspected = false; ///< it was there twice, and `then` is known
        bool is_told = false;
        thread_activity then{};
    };

    /// What a probe finds beside the native stack.
    struct found {
        executor* worker = nullptr; ///< set before it is asked for
        std::array<std::source_location, 32> awaits;
        std::size_t count = 0;
        std::array<char, 64> name; ///< of the task, cut where it is longer
        std::size_t name_length = 0;
    };
    static void look_at_task(void* into) noexcept;

    void serve() noexcept;
    [[nodiscard]] bool look(clock::time_point now, bool is_late, std::vector<stall_report>& reports);
    [[nodiscard]] bool is_stall(watched& one, clock::time_point now) const noexcept;
    [[nodiscard]] stall_report report(watched const& one, clock::time_point now);
    void tell(stall_report& what);

    /// Of one await behind which workers were held up.
    struct site {
        std::uint64_t count = 0;
        clock::time_point told{};
    };

    stall_options const options_;
    found found_;
    thread_probe probe_{look_at_task, &found_};
    std::map<std::pair<std::string, std::uint32_t>, site> sites_; ///< the watchdog's thread

    std::mutex mutex_; ///< of what follows; held while a thread is asked
    std::condition_variable ends_;
    std::vector<watched> all_; ///< has room for every worker
    bool is_over_ = false;
    std::thread thread_; ///< after all that it uses
};

} // namespace pitsaw::inline v0
