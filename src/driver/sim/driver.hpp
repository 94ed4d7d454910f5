#pragma once
#include "driver/direction.hpp"
#include "driver/first_generation.hpp"
#include "driver/sim/loan.hpp"
#include "driver/sim/network.hpp"
#include "driver/sim/observer.hpp"
#include "driver/sim/options.hpp"

#include <pitsaw/base/atomic.hpp>
#include <pitsaw/base/random.hpp>
#include <pitsaw/io/driver.hpp>

#include <algorithm>
#include <deque>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

namespace pitsaw::inline v0 {

/// Counts of one simulated driver, for a harness that balances the books.
struct sim_statistics {
    std::uint64_t inline_done = 0; // attempts that succeeded
    std::uint64_t submitted = 0;
    std::uint64_t completed = 0; // final events handed out
    std::uint64_t cancelled = 0; // of those, the ones that ended with operation_canceled
    std::size_t in_flight = 0;   // operations and discards
    std::size_t descriptors_open = 0;
    std::size_t objects_open = 0; // sockets of the world, those without a descriptor included
    std::size_t buffers_out = 0;  // of all pools: in events that were handed out and not given back
    sim_traffic traffic;
};

/// A driver of a simulated world: virtual time, streams in memory, every choice from a seed.
///
/// ```
/// sim_driver driver(sim_driver_options{.seed = 7});
/// auto const [left, right] = driver.make_stream_pair();
/// ```
/// Time passes only in `poll`, which jumps to what happens next, and in `advance`. The same options and the
/// same calls give the same events. It checks the loan (law 2) and the thread (law 11) of all in flight.
///
/// How an operation goes: submitted -> waiting (behind others of its direction) -> scheduled (takes place at
/// a time drawn) -> blocked (the socket is not ready) and scheduled again -> ended (result fixed, event due
/// at a time drawn).
/// Lifetime, Threads, Errors: those of `driver`. It allocates; out of memory ends the process.
class sim_driver final : public driver {
  public:
    explicit sim_driver(sim_driver_options options = {}, sim_observer* observer = nullptr);
    /// One of several in a world that they share, on the machine `on`; whoever made them lets time pass.
    sim_driver(sim_driver_options options, sim_observer* observer, sim_network& shared, sim_host on);
    ~sim_driver() override;

    auto now() const noexcept -> time_point override { return is_cut_off_ ? own_time_ : network_->now(); }
    auto attach(native_handle handle) noexcept -> io_result<descriptor> override;
    auto open_stream(address_family family) noexcept -> io_result<descriptor> override;
    auto control(descriptor target, socket_command& command) noexcept -> io_result<void> override;
    auto lend(std::span<std::byte> memory, std::uint32_t buffer_bytes) noexcept
        -> io_result<std::uint16_t> override;
    void give_back(std::uint16_t pool, std::uint16_t buffer) noexcept override;
    auto attempt(operation& op, event& finished) noexcept -> bool override;
    void submit(operation& op) noexcept override;
    void cancel(operation& op) noexcept override;
    auto poll(std::span<event> out, time_point until) noexcept -> std::size_t override;
    void wake() noexcept override;
    auto detach(descriptor target) noexcept -> io_result<native_handle> override;
    void discard(descriptor target) noexcept override;
    auto drain(std::span<event> out, time_point deadline) noexcept -> drain_progress override;
    auto features() const noexcept -> driver_features override;

    // The simulated world, beside the interface.
    [[nodiscard]] auto make_stream_pair() -> std::pair<descriptor, descriptor>;
    [[nodiscard]] auto make_socket() -> descriptor;
    [[nodiscard]] auto listen(socket_address at, std::size_t backlog_max = 128) -> descriptor;
    void reset(descriptor stream); // the network breaks the connection for both ends
    void advance(duration by);     // a task blocks the thread: time passes and nobody polls
    void cut_off(); // its process is dead: nothing it does reaches the world, and its time is its own
    void skip_to(time_point then) noexcept { own_time_ = std::max(own_time_, then); } // after that
    [[nodiscard]] auto is_due() noexcept -> bool;             // a poll has something to do
    [[nodiscard]] auto next_step_at() noexcept -> time_point; // of what is planned here
    [[nodiscard]] auto is_stuck() const noexcept
        -> bool; // nothing will happen without a wake or a new operation
    [[nodiscard]] auto readable_bytes(descriptor stream) const noexcept -> std::size_t;
    [[nodiscard]] auto statistics() const noexcept -> sim_statistics;

  private:
    static constexpr std::uint32_t nobody = UINT32_MAX;
    static constexpr std::int32_t cut_off_result = -static_cast<std::int32_t>(std::errc::network_down);
    enum class stage : std::uint8_t { free, waiting, scheduled, blocked, ended };
    enum class step_kind : std::uint8_t { take_place, cancel, deliver };

    struct record { // of an operation in flight, or of a discard
        operation* op = nullptr;
        std::uint64_t sequence = 0; // of submission; also what makes a stale reference to the record stale
        stage at = stage::free;
        bool cancel_asked = false;
        bool more = false;       // the event due is not the final one
        bool has_buffer = false; // `buffer` goes out with the event due
        std::uint16_t buffer = 0;
        std::int32_t result = 0;
        std::uint32_t ticket = 0; // of its one valid take_place or deliver step
        std::uint32_t slot = nobody;
        direction way = no_direction;
        std::uint32_t before = nobody; // in the queue of its direction
        std::uint32_t behind = nobody;
        sim_loan loan;
        std::vector<std::byte> received; // has left the stream, not yet in the buffer on loan
    };
    struct queue {
        std::uint32_t first = nobody; // the one at work
        std::uint32_t last = nobody;
    };
    struct slot { // what a descriptor's index means
        native_handle handle = native_handle::none;
        std::uint32_t generation = 1;
        bool is_open = false;
        queue queues[directions];

        [[nodiscard]] auto is_idle() const noexcept -> bool {
            return std::ranges::all_of(queues, [](queue const& line) { return line.first == nobody; });
        }
        std::uint32_t closing = nobody; // the record of its close
    };
    struct pool { // what was lent
        std::span<std::byte> memory;
        std::uint32_t buffer_bytes;
        std::vector<std::uint16_t> free;
        std::vector<bool> is_free;

        [[nodiscard]] auto buffer(std::uint16_t which) const noexcept -> std::span<std::byte> {
            return memory.subspan(std::size_t{which} * buffer_bytes, buffer_bytes);
        }
    };
    struct step { // a thing that happens at a time
        time_point at;
        std::uint64_t order; // among those of the same time
        std::uint64_t sequence;
        std::uint32_t which; // record
        std::uint32_t ticket;
        step_kind kind;
    };
    struct identity { // what `operation::scratch` holds
        sim_driver* home;
        std::uint64_t sequence;
        std::uint32_t which;
    };

    sim_driver(sim_driver_options options, sim_observer* observer, std::unique_ptr<sim_network> own,
               sim_network* shared, sim_host on);

    [[nodiscard]] auto chance(unsigned percent) noexcept -> bool;
    [[nodiscard]] auto happens(unsigned percent) noexcept -> bool;
    [[nodiscard]] auto has_changes() const noexcept -> bool { return !changes_.empty(); }
    [[nodiscard]] auto may_open() noexcept -> bool;
    [[nodiscard]] auto up_to(duration most) noexcept -> duration;

    // driver.cpp
    [[nodiscard]] auto find(operation const& op) noexcept -> std::uint32_t; // nobody: not in flight
    [[nodiscard]] auto find(descriptor target) noexcept -> slot*;
    [[nodiscard]] auto turn(std::span<event> out, time_point until, bool until_empty) noexcept -> std::size_t;
    [[nodiscard]] auto run_due(std::span<event> out) noexcept -> std::size_t;
    [[nodiscard]] auto is_stale(step const& planned) const noexcept -> bool;
    void plan(std::uint32_t which, step_kind kind, duration in_how_long) noexcept;
    void wait_for_wake() noexcept;
    void check_home() noexcept;
    void ask_to_end(std::uint32_t which, bool by_owner) noexcept;

    // start.cpp
    [[nodiscard]] auto new_record(operation* op) noexcept -> std::uint32_t;
    void enqueue(std::uint32_t which) noexcept;
    void begin(std::uint32_t which) noexcept;
    void begin_close(std::uint32_t which, slot& of) noexcept;
    void begin_close_when_alone(slot& of) noexcept;
    [[nodiscard]] auto perform(operation const& op, slot const* on,
                               std::span<std::byte> receive_into) noexcept -> std::int32_t;
    [[nodiscard]] auto receive_pooled(record& r, slot const& on) noexcept -> std::int32_t;
    void take_place(std::uint32_t which) noexcept;
    [[nodiscard]] auto leave(slot& of) noexcept -> native_handle;
    void free_slot(std::uint32_t which) noexcept;
    void look_again() noexcept;

    // finish.cpp
    void end(std::uint32_t which, std::int32_t result, bool more = false) noexcept;
    void deliver(std::uint32_t which, event& out) noexcept;
    void release(std::uint32_t which) noexcept;
    void go_on(std::uint32_t which) noexcept;

    sim_driver_options options_;
    sim_observer* observer_;
    random_source random_;                     // every choice
    std::unique_ptr<sim_network> own_network_; // of one that is alone in its world
    sim_network* const network_;
    sim_host const host_{};
    std::vector<native_handle> changes_; // sockets of the machine that have changed
    bool is_cut_off_ = false;
    time_point own_time_{}; // once it is cut off
    std::uint64_t sequence_ = 0;
    std::deque<record> records_;
    std::vector<std::uint32_t> free_records_;
    std::deque<slot> slots_;
    std::vector<std::uint32_t> free_slots_;
    std::vector<std::uint32_t> slot_of_handle_; // by native handle
    std::deque<pool> pools_;
    std::vector<step> agenda_; // a heap, the earliest first
    sim_statistics counts_;
    std::uint32_t const first_generation_ = first_generation();
    std::uint64_t home_ = 0; // a thread's number, set by the first call that starts, cancels or polls
    detail::atomic<std::uint32_t> woken_{0}; // any thread: 1 from a wake to the poll that it ends
};

} // namespace pitsaw::inline v0
