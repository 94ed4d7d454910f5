#pragma once
#include "model/clock.hpp"
#include "model/memory.hpp"
#include "model/operation.hpp"

#include <pitsaw/model/explore.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace pitsaw::inline v0::model {

using thread_mask = std::uint32_t;
[[nodiscard]] constexpr auto bit(unsigned thread) noexcept -> thread_mask { return 1U << thread; }

/// What a thread is about to do, as far as the search needs it.
struct pending {
    effects what;
    std::uint32_t object;
    std::uint32_t stores; ///< how many its location has
};

/// Which runs there are, depth first: a stack with a node for each step of the run. A node says who took the
/// step, who else is to take it instead in later runs, and in which of several ways it went.
///
/// Without a bound on pre-emptions: dynamic partial-order reduction with source sets and sleep sets. Two
/// steps that could have told a difference (a load, and a later store that it could have read) are a race,
/// and the later one is tried before the other. Who has been tried at a node sleeps in what follows; a
/// sleeping load is awake again for stores that were not there then. With a bound, each interleaving within
/// it is a run.
///
/// Lifetime, threads: the engine's. docs/design/0015-model-checker.md argues why nothing is missed.
class search {
  public:
    explicit search(options const& how);

    struct turn {
        thread_mask enabled = 0;
        unsigned running = 0;   ///< who took the last step
        unsigned preferred = 0; ///< who is to take this one if nothing speaks against it
        bool may_go_on = false; ///< the running one could
        bool is_free =
            false; ///< the preferred one's step commutes with all others: nobody else need be tried
        std::array<pending, threads_max> next;
        std::function<bool(unsigned thread, std::uint32_t stores)> const* has_fresh = nullptr;
    };

    void begin_run() noexcept;
    /// Prepares the next run; false: there is none.
    [[nodiscard]] auto advance() noexcept -> bool;

    /// Who takes the next step. `threads_max`: a replay that does not fit.
    [[nodiscard]] auto choose_thread(turn const& now) -> unsigned;
    /// In which of the ways in `mask` it goes.
    [[nodiscard]] auto choose_way(std::uint64_t mask) -> unsigned;
    /// The stores that the step about to be taken has been tried with: ways that read one below this do not
    /// count.
    [[nodiscard]] auto stores_tried() const noexcept -> std::uint32_t;
    /// The step has been taken: finds those it races with. `causal` is the thread's clock before and, when
    /// the function returns, after what orders it.
    void note(location* at, effects what, unsigned thread, std::uint32_t step, vector_clock& causal);
    void note_result(vector_clock const& causal) noexcept;

    [[nodiscard]] auto is_redundant() const noexcept -> bool { return is_redundant_; }
    [[nodiscard]] auto reduces() const noexcept -> bool { return reduces_; }

    /// `replay` in options, taken apart. False: it cannot be read.
    [[nodiscard]] auto read_script(std::string const& text) -> bool;

  private:
    static constexpr std::uint32_t awake = 0, asleep = UINT32_MAX; // between: tried with this many stores - 1
    static constexpr unsigned no_way = UINT32_MAX;

    struct node {
        unsigned thread = 0;
        unsigned way = no_way;
        std::uint64_t ways = 0;
        thread_mask enabled = 0, selectable = 0, wanted = 0, done = 0;
        std::array<std::uint32_t, threads_max> sleep{};
        // of the step that was taken
        std::uint32_t step = 0;
        vector_clock causal{};
    };
    struct scripted {
        unsigned thread, way;
    };

    [[nodiscard]] auto add_node(turn const& now) -> unsigned;
    [[nodiscard]] auto take(node const& at, turn const& now) noexcept -> unsigned;
    [[nodiscard]] auto choose_scripted(turn const& now) -> unsigned;
    void fall_asleep(node const& at, turn const& now) noexcept;
    void note_race(std::uint32_t earlier, std::uint32_t later, unsigned thread,
                   vector_clock const& causal) noexcept;

    std::uint32_t preemptions_max_;
    bool reduces_;
    std::vector<node> nodes_;
    std::uint32_t depth_ = 0;       // of the next step
    std::uint32_t known_until_ = 0; // races of steps below were found in an earlier run
    std::uint32_t preemptions_ = 0; // in this run, so far
    bool is_redundant_ = false;
    std::array<std::uint32_t, threads_max> next_sleep_{}; // of the node after the last
    bool is_scripted_ = false;
    std::vector<scripted> script_;
};

} // namespace pitsaw::inline v0::model
