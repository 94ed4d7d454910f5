#pragma once
#include <cstddef>

namespace pitsaw::inline v0 {

/// Hears of the allocations of one thread, and may refuse them: how a harness lets memory run out.
///
/// It hears of every coroutine frame and every node of a scope, for the thread's recycler keeps nothing while
/// it is watched; and of every `operator new` where the program links `pitsaw::sim_allocations`.
/// Lifetime: from `begin_allocation_watch` to `end_allocation_watch`. Threads: the one that began it.
class allocation_watch {
  public:
    /// Throws std::bad_alloc to refuse. The thread is not watched meanwhile.
    virtual void allocating(std::size_t bytes) = 0;

  protected:
    ~allocation_watch() = default;
};

void begin_allocation_watch(allocation_watch& by) noexcept;
void end_allocation_watch() noexcept;

/// Tells the calling thread's watch, if there is one. Errors: std::bad_alloc, if that refuses.
void note_allocation(std::size_t bytes);

/// Nobody hears of what is allocated meanwhile: a harness's own memory, a simulated kernel's.
class unwatched_allocations {
  public:
    unwatched_allocations() noexcept;
    unwatched_allocations(unwatched_allocations&&) = delete;
    ~unwatched_allocations();

  private:
    allocation_watch* watch_;
};

/// Within `unwatched_allocations`: who watches the thread hears of them again.
class watched_again {
  public:
    watched_again() noexcept;
    watched_again(watched_again&&) = delete;
    ~watched_again();

  private:
    allocation_watch* before_;
};

} // namespace pitsaw::inline v0
