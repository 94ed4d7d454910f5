#pragma once
#include "model/clock.hpp"
#include "model/operation.hpp"
#include "model/sc_order.hpp"

#include <array>
#include <cstdint>
#include <source_location>
#include <string>
#include <vector>

namespace pitsaw::inline v0::model {

/// What the memory knows of a thread.
struct thread_view {
    unsigned number = 0;
    std::uint32_t steps = 0;
    vector_clock past;          ///< what happens before its next step
    vector_clock acquirable;    ///< what an acquire fence would add: releases that relaxed loads have read
    vector_clock fenced;        ///< its past at its last release fence
    std::uint32_t spurious = 0; ///< compare_exchange_weak that failed without reason
    std::vector<std::uint32_t> looked_at; ///< locations it has read since its last yield
};

/// One store in the order of its location.
struct store_record {
    detail::word value;
    vector_clock release; ///< what who acquires it learns
    vector_clock causal;  ///< what was executed for it to be, synchronized or not
    std::uint32_t rank;   ///< its place in the modification order
    bool is_modify;       ///< read-modify-write: nothing comes between it and what it read
    std::uint32_t logged; ///< the entry of the log that made it
};

/// What one step did to a location.
struct access {
    static constexpr std::uint32_t none = UINT32_MAX;
    unsigned thread;
    std::uint32_t step;
    std::uint32_t from, written; ///< stores
    int sc;                      ///< its member of the sc_order
    vector_clock past;
    std::source_location where;
};

/// What the search remembers of a step on a location: which node of it, whose, and what it means for others.
struct touch {
    std::uint32_t depth;
    unsigned thread;
    std::uint32_t step;
    effects what;
};

struct location {
    void const* address;
    detail::object_traits const* traits;
    bool is_alive;
    char const* name;             ///< null: none given
    std::source_location used_at; ///< where it was first used
    unsigned maker;
    std::uint32_t made_step; ///< 0: before everything
    std::vector<store_record> stores;
    std::vector<std::uint32_t> order; ///< the modification order, of indices in `stores`
    std::vector<access> accesses;
    std::vector<touch> touches;
    std::vector<unsigned> waiting;                   ///< parked threads, the first first
    std::array<std::uint32_t, threads_max> floor_of; ///< 1 + the store that a thread saw as the newest
    unsigned owner;                                  ///< a mutex': who holds it, or nobody
    vector_clock release;                            ///< a mutex': what its last holder did
    std::array<std::uint32_t, threads_max> reads;    ///< a variable's: the last read of each thread
    std::array<std::source_location, threads_max> reads_at;
    unsigned writer;
    std::uint32_t write; ///< a variable's: the last write
    std::source_location write_at;

    static constexpr unsigned nobody = threads_max;
};

/// One way in which a step can go.
struct alternative {
    enum class way : std::uint8_t { reads, inserts, replaces, fails, fails_spuriously };
    way how;
    std::uint32_t store; ///< which is read; `inserts`: the rank that the new one gets
};
using alternatives = std::vector<alternative>;

/// The atomics, variables and mutexes of one run, and what may be read from them: an order of stores for
/// each, and what happens before what.
class memory {
  public:
    void clear() noexcept;

    /// The location at this address; made now for an object that was there before the run. No object there
    /// any more, or not yet for this thread: `problem` says so.
    [[nodiscard]] auto find(detail::place const& object, thread_view const& by, std::string& problem)
        -> std::uint32_t;
    void make(detail::place const& object, thread_view const& by);
    /// Ends an object; `problem` if another thread may still use it.
    void end(void const* at, thread_view const& by, std::string& problem);
    [[nodiscard]] auto operator[](std::uint32_t which) noexcept -> location& { return locations_[which]; }
    [[nodiscard]] auto operator[](std::uint32_t which) const noexcept -> location const& {
        return locations_[which];
    }
    void name(void const* at, char const* text) { names_.push_back({at, text}); }
    [[nodiscard]] auto name_of(std::uint32_t which) const -> std::string;

    /// The ways in which this step of an atomic may go, that of plain execution first. Never empty.
    void list(thread_view const& by, step const& next, alternatives& out) const;

    struct result {
        detail::word before, after;
        std::uint32_t from, written;
    };
    /// Executes it. The causal clock of the thread takes in what it reads.
    auto execute(thread_view& by, step const& now, alternative const& how, vector_clock& causal,
                 std::uint32_t logged) -> result;
    void execute_fence(thread_view& by, std::memory_order order);

    /// The next loads of what it has looked at since its last yield see what is there now. Whether that is
    /// more than it has seen.
    auto look_again(thread_view& by) noexcept -> bool;

    [[nodiscard]] auto newest(std::uint32_t which) const noexcept -> store_record const& {
        auto const& of = locations_[which];
        return of.stores[of.order.back()];
    }

    void read_variable(location& at, thread_view const& by, std::source_location where, std::string& problem);
    void write_variable(location& at, thread_view const& by, std::source_location where,
                        std::string& problem);

    [[nodiscard]] auto has_room_for_sc() const noexcept -> bool { return !sc_.is_full(); }

  private:
    struct sc_neighbours {
        sc_order::set before, after;
    };

    [[nodiscard]] auto slot_of(void const* at) noexcept -> std::uint32_t&;
    void grow_index();
    auto add_location(detail::place const& object, unsigned maker, std::uint32_t step) -> std::uint32_t;

    [[nodiscard]] auto floor(location const& at, thread_view const& by) const noexcept -> std::uint32_t;
    [[nodiscard]] auto neighbours(location const& at, std::uint32_t below, bool writes) const
        -> sc_neighbours;
    [[nodiscard]] auto is_allowed(location const& at, thread_view const& by, bool is_sc, std::uint32_t below,
                                  bool writes) const -> bool;
    auto note_sc(location const& at, thread_view const& by, bool is_sc, std::uint32_t below, bool writes)
        -> int;
    [[nodiscard]] auto before(access const& of) const -> sc_order::set;
    [[nodiscard]] auto after(access const& of) const -> sc_order::set;
    [[nodiscard]] static auto precedes(location const& at, access const& first, std::uint32_t below,
                                       bool writes) noexcept -> bool;
    auto insert(location& at, std::uint32_t rank, store_record added) -> std::uint32_t;

    struct named {
        void const* at;
        char const* text;
    };
    struct index_entry {
        void const* at = nullptr;
        std::uint32_t location = 0;
        std::uint32_t run = 0; // another run's: empty
    };
    std::vector<location> locations_; // those of other runs stay, for their memory
    std::uint32_t count_ = 0;
    std::vector<index_entry> index_ = std::vector<index_entry>(1024);
    std::uint32_t indexed_ = 0;
    std::uint32_t run_ = 0;
    std::vector<named> names_;
    sc_order sc_;
};

} // namespace pitsaw::inline v0::model
