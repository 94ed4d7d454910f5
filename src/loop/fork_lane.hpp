#pragma once
#include "loop/waiting_computations.hpp"

#include <pitsaw/base/clock.hpp>
#include <pitsaw/executor/compute_lane.hpp>
#include <pitsaw/executor/executor_ref.hpp>

#include <cstdint>

namespace pitsaw::inline v0 {

class stealing;

/// The lane of a worker: runs its turns as callbacks of the ready queue, and holds the computations that
/// were begun here and wait for those before them.
///
/// A turn has as many transfers as have been found to take `turn_min` to `turn_max`, at most `hops_max`.
/// The measure is the time between two polls, which a replay repeats; so turns are repeated too.
///
/// Lifetime: its worker's. Threads: its worker's, but `take_open`, `take_waiting` and `is_open`. Errors:
/// none.
class fork_lane final : public compute_lane {
  public:
    static constexpr duration turn_min = std::chrono::microseconds(50);
    static constexpr duration turn_max = std::chrono::microseconds(200);

    explicit fork_lane(executor& of) noexcept : worker_(of) {}

    /// Before anything runs: others may take what stands in the open.
    void share(stealing& with) noexcept;

    void begin(compute_root& computation) noexcept override;
    [[nodiscard]] bool withdraw(compute_root& computation) noexcept override {
        return waiting_.withdraw(computation);
    }

    // For a thief, on its own lane, on which nothing runs.
    void go_on_with(fork_point& stolen) noexcept;

    /// For any: one that has not begun, or null.
    [[nodiscard]] compute_root* take_waiting() noexcept { return waiting_.pop(); }
    /// As `offer_queue::empty`, of both kinds.
    [[nodiscard]] bool is_open() const noexcept {
        return open_.load(std::memory_order_seq_cst) != nullptr || !waiting_.empty();
    }

    [[nodiscard]] bool is_running() const noexcept { return root_ != nullptr; }
    /// Its worker has polled, so long after the poll before.
    void polled(duration since) noexcept;

  private:
    /// A hand-made frame: the turn.
    struct turn_frame {
        void (*resume)(void*);
        void (*destroy)(void*);
        continuation node;
        fork_lane* lane;
    };

    static void turn(void* frame);
    static void nothing_to_destroy(void*) {}
    void take_turn();
    [[nodiscard]] std::coroutine_handle<> next_of_turn() noexcept;
    void opened() noexcept override;

    executor& worker_;
    stealing* shared_ = nullptr;        ///< set once; null: nobody else takes anything
    fork_point* stolen_ = nullptr;      ///< what the next turn begins with instead
    std::int32_t hops_ = hops_max / 16; ///< of a turn
    std::uint32_t turns_ = 0;           ///< since the last poll
    turn_frame turn_{turn, nothing_to_destroy, {}, this};
    waiting_computations waiting_; ///< any worker takes
};

} // namespace pitsaw::inline v0
