#pragma once
#include <pitsaw/executor/continuation.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace pitsaw::inline v0 {

/// Whose turn is first among the ready tasks of one worker; set by `with_priority`, inherited.
enum class priority : std::uint8_t {
    high,   ///< short and urgent: answers to probes, a leader's heartbeat
    normal, ///< what says nothing else
    low,    ///< what may be late: compaction, statistics
};
inline constexpr std::size_t priority_count = 3;

/// What is ready on a worker: a queue for each priority.
///
/// The next is the first of the highest queue that has something. So that none starves, one that has waited
/// through `turns_max` turns of higher ones gets a turn. What has one priority only, as most programs do,
/// pays two comparisons a turn.
///
/// Lifetime: the worker's. Threads: its worker only. Errors: none.
class ready_levels {
  public:
    /// Turns that a queue with something in it is passed over.
    static constexpr std::uint32_t turns_max = 16;

    ready_levels() = default;
    ready_levels(ready_levels&&) = delete;

    [[nodiscard]] bool empty() const noexcept { return !has_at_least(priority::low); }

    /// Whether something of this priority or a higher one is ready.
    [[nodiscard]] bool has_at_least(priority const level) const noexcept {
        bool found = false;
        for (std::size_t each = 0; each <= static_cast<std::size_t>(level); ++each)
            found |= !queues_[each].empty();
        return found;
    }

    void push(continuation& last, resume_as const how = resume_as::coroutine,
              priority const level = priority::normal) noexcept {
        queues_[static_cast<std::size_t>(level)].push(last, how);
    }

    /// Before all others of its priority.
    void push_first(continuation& first, resume_as const how, priority const level) noexcept {
        queues_[static_cast<std::size_t>(level)].push_first(first, how);
    }

    /// Takes the next; there must be one.
    [[nodiscard]] ready_queue::entry pop() noexcept {
        auto& normal = queues_[static_cast<std::size_t>(priority::normal)];
        if (queues_[static_cast<std::size_t>(priority::high)].empty() &&
            queues_[static_cast<std::size_t>(priority::low)].empty()) [[likely]]
            return normal.pop();
        return pop_by_level();
    }

  private:
    [[nodiscard]] ready_queue::entry pop_by_level() noexcept;

    std::array<ready_queue, priority_count> queues_;
    std::array<std::uint32_t, priority_count> passed_over_{}; ///< turns of higher ones since its own last one
};

} // namespace pitsaw::inline v0
