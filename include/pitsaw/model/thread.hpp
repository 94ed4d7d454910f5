#pragma once
#include <pitsaw/model/mutex.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <source_location>
#include <utility>

namespace pitsaw::inline v0::model {

/// How many threads one run may have at a time, the body's own among them.
inline constexpr unsigned threads_max = 8;

/// A thread of the model: `std::jthread` without a stop token. All threads of the model share one thread of
/// the system, so what they do between two accesses is never interrupted.
///
/// ```cpp
/// model::thread writer([&] { data = 42; is_ready.store(true, std::memory_order_release); });
/// writer.join();
/// ```
/// Lifetime: the destructor joins. Threads: used by the one that made it. Errors: an exception that leaves
/// `work` is reported as the failure. More than `threads_max` in a run, too. Stack: 256 KiB.
class thread {
  public:
    template <std::invocable F>
    explicit thread(F work, std::source_location where = std::source_location::current())
        : number_(start(std::move_only_function<void()>(std::move(work)), where)), made_at_(where) {}
    thread(thread const&) = delete;
    ~thread() { join(made_at_); }

    void join(std::source_location where = std::source_location::current()) noexcept;

  private:
    [[nodiscard]] static auto start(std::move_only_function<void()> work, std::source_location where)
        -> unsigned;

    unsigned number_;
    std::source_location made_at_;
    bool is_joined_ = false;
};

/// Says that the calling thread can do nothing until another has: every loop that waits by looking again
/// calls it. It goes on after another thread has changed something; if none ever can, that is reported. What
/// it looked at since the last yield it then reads as it is: that a loop goes round once more for no reason
/// is not explored. Outside of `explore` it yields the thread of the system.
void yield(std::source_location where = std::source_location::current()) noexcept;

/// The number of the calling thread, 0 for the body's own; the same in each run.
[[nodiscard]] auto thread_number() noexcept -> unsigned;

/// Code under test that keeps a value for each thread keeps it here: one for each thread of the model and
/// each `key`, null at its start.
[[nodiscard]] auto thread_local_pointer(void const* key) noexcept -> void*&;

} // namespace pitsaw::inline v0::model
