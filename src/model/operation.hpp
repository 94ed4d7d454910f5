#pragma once
#include "model/clock.hpp"

#include <pitsaw/model/access.hpp>

#include <atomic>
#include <cstdint>
#include <source_location>

namespace pitsaw::inline v0::model {

/// What a thread does next, or has done. (The library's own `operation` is another thing: a driver's.)
enum class step_kind : std::uint8_t {
    start,
    load,
    store,
    modify,
    compare_exchange,
    fence,
    park,
    wake,
    notify,
    join,
    yield,
    lock,
    try_lock,
    unlock,
    read_variable,
    write_variable
};

inline constexpr std::uint32_t no_object = UINT32_MAX;

struct step {
    step_kind kind = step_kind::start;
    std::uint32_t object = no_object; ///< which location
    std::memory_order order = std::memory_order_seq_cst;
    std::memory_order failure_order = std::memory_order_seq_cst;
    bool is_weak = false;     ///< compare_exchange: may fail without reason
    bool all = false;         ///< notify
    bool newest_only = false; ///< load: of a thread that was about to park
    unsigned other = 0;       ///< join: whom
    detail::word expected = 0, operand = 0;
    detail::word (*change)(detail::word, detail::word) = nullptr;
    std::source_location where{};
};

/// What a step may mean for those of other threads on the same object.
struct effects {
    bool reads = false;  ///< it takes one of the stores
    bool writes = false; ///< it is a store that others may take
    bool parks = false;  ///< it looks at what is newest at this very moment
    bool orders = false; ///< its place among its like matters: notifications, locks

    [[nodiscard]] static auto of(step_kind kind) noexcept -> effects {
        switch (kind) {
        case step_kind::load:
            return {.reads = true};
        case step_kind::store:
            return {.writes = true};
        case step_kind::modify:
        case step_kind::compare_exchange:
            return {.reads = true, .writes = true};
        case step_kind::park:
            return {.parks = true};
        case step_kind::notify:
        case step_kind::lock:
        case step_kind::try_lock:
        case step_kind::unlock:
            return {.orders = true};
        case step_kind::start:
        case step_kind::fence:
        case step_kind::wake:
        case step_kind::join:
        case step_kind::yield:
        case step_kind::read_variable:
        case step_kind::write_variable:
            return {};
        }
        return {};
    }

    /// Whether the two do not commute.
    [[nodiscard]] static auto conflict(effects one, effects other) noexcept -> bool {
        return (one.parks && (other.writes || other.orders)) || (other.parks && (one.writes || one.orders)) ||
               (one.orders && other.orders);
    }
    /// Whether `later`, had it come first, would have changed what `earlier` does. A store that comes after a
    /// load could have been read by it; the other way round there is nothing to gain, for a load that comes
    /// after may still read what was there before, and a store may still take its place before the other.
    [[nodiscard]] static auto is_race(effects earlier, effects later) noexcept -> bool {
        return (earlier.reads && later.writes) || conflict(earlier, later);
    }
};

[[nodiscard]] inline auto is_acquire(std::memory_order order) noexcept -> bool {
    return order != std::memory_order_relaxed && order != std::memory_order_release;
}
[[nodiscard]] inline auto is_release(std::memory_order order) noexcept -> bool {
    return order == std::memory_order_release || order == std::memory_order_acq_rel ||
           order == std::memory_order_seq_cst;
}

} // namespace pitsaw::inline v0::model
