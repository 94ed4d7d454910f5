#pragma once
#include "loop/stall_watchdog.hpp"
#include "loop/stealing.hpp"
#include "loop/worker.hpp"
#include "os/linux/cpu_affinity.hpp"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

namespace pitsaw::inline v0 {

/// The workers of a runtime: the first, which whoever calls `sync_wait` runs, and those that have a thread.
///
/// They know each other by `executor::workers`, which does not change while any of them runs. So they begin
/// together, when all of them are there, and end together: first every loop ends, and when none runs that
/// could touch another worker, each thread destroys its own.
///
/// Lifetime: the runtime's. Threads: made and destroyed by one; nothing else is called meanwhile but `at`
/// and `members`. Errors: those of `runtime`'s constructor.
class crew {
  public:
    enum class run_by : std::uint8_t {
        threads, ///< each but the first has one of its own
        steps,   ///< whoever made it calls `worker::step` of each, from one thread
    };
    /// `make_driver` is called when the options have been found to be possible, and not after this.
    crew(runtime::driver_maker const& make_driver, runtime_options options, run_by how);
    crew(crew&&) = delete;
    ~crew();

    [[nodiscard]] worker& at(std::uint32_t number) const noexcept {
        return number == 0 ? *first_ : *members_[number - 1].loop;
    }
    [[nodiscard]] std::span<executor* const> members() const noexcept { return all_; }

  private:
    /// A worker with a thread, and the hand-made frame that ends its loop.
    struct member {
        explicit member(std::uint32_t which) noexcept : number(which) {}
        member(member&&) = delete;

        void (*resume)(void*) = end_loop; ///< these three stand where a coroutine's would
        void (*destroy)(void*) = nothing_to_destroy;
        continuation end_node;
        std::uint32_t number;
        bool is_over = false;         ///< its thread only
        std::unique_ptr<worker> loop; ///< made and destroyed by its thread
        std::exception_ptr failure;   ///< of its start; read when it has begun
        std::thread thread;
    };
    enum class phase : std::uint8_t { beginning, running, given_up };

    void begin();
    void begin_threads();
    void share();
    void introduce(worker& each, std::uint32_t number) noexcept;
    void give_up() noexcept;
    void serve(member& one) noexcept;
    void make(member& one);
    void settle(member const& one);
    [[nodiscard]] bool wait_for_the_others() noexcept;
    void wait_for_all_ends() noexcept;
    void tell(phase next) noexcept;
    [[nodiscard]] auto cpu_of(std::uint32_t number) const noexcept -> std::optional<std::uint32_t>;

    static void end_loop(void* where);
    static void nothing_to_destroy(void*) {}

    runtime_options const options_;
    run_by const how_;
    runtime::driver_maker const& make_driver_; ///< while it begins
    cpu_mask unpinned_;                        ///< set once: where who made the runtime may run
    blocking_pool blocking_;                   ///< before the workers, which use it, as the next
    std::unique_ptr<stealing> shared_;
    std::unique_ptr<stall_watchdog> watchdog_; ///< null: nobody looks
    std::unique_ptr<worker> first_;
    std::vector<executor*> all_; ///< written while nothing runs
    std::deque<member> members_;

    std::mutex mutex_; ///< of what follows
    std::condition_variable changed_;
    phase phase_ = phase::beginning;
    std::size_t begun_ = 0; ///< threads that have made their worker, or failed to
    std::size_t ended_ = 0; ///< loops
};

} // namespace pitsaw::inline v0
