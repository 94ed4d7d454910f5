#pragma once
#include "driver/readiness/pool.hpp"
#include "driver/readiness/table.hpp"
#include "driver/wake_word.hpp"

#include <pitsaw/base/intrusive_queue.hpp>
#include <pitsaw/io/driver.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace pitsaw::inline v0 {

/// What the drivers share whose kernel says when a call may succeed, and leaves it to them to make the call.
///
/// How an operation goes: submitted -> waiting (in the line of its direction; the first one is tried
/// whenever its descriptor may be ready) -> ended (result fixed, in the list of events due) -> handed out
/// by poll. A descriptor is registered once, for edges of both directions; what the edges said is kept in
/// its slot until a call would block. So a submit that can succeed does so at once and asks the kernel for
/// nothing else.
///
/// The kernel's own part is left to who derives: `add`, `remove`, `wait_for_edges` and `interrupt`.
/// Lifetime, Threads, Errors: those of `driver`.
class readiness_driver : public driver {
  public:
    ~readiness_driver() override;

    auto now() const noexcept -> time_point override;
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

  protected:
    // The poller's part. Threads: the worker's, but for `interrupt`.

    /// Registers `fd` for every edge until it is closed. 0 or a negative error.
    [[nodiscard]] virtual auto add(int fd, descriptor tag) noexcept -> std::int32_t = 0;
    /// Ends the registration of `fd`, which is about to be closed or to leave.
    virtual void remove(int fd) noexcept = 0;
    /// Waits for edges, `interrupt` or `until`, and tells each edge to `note`. May return early.
    virtual void wait_for_edges(time_point until) noexcept = 0;
    /// Ends the current `wait_for_edges`, or the next. Any thread.
    virtual void interrupt() noexcept = 0;

    /// An edge: what may succeed from now on. A stale tag reaches nobody (law 10).
    void note(descriptor tag, readiness edges) noexcept;

  private:
    enum state : std::uint32_t { // of an operation
        idle,
        waiting,     // in a line
        reporting,   // in `due_` with an event that is not its final one
        ended,       // in `due_` with its final event
        ended_alone, // as ended, without a descriptor
        closing,     // a close that waits for the others
        closed,      // in `due_`; its slot is free once it is handed out
    };
    struct mark {                    // what `operation::scratch` holds from submit to the final event
        operation* before = nullptr; // operation_line's
        readiness_driver* home = nullptr;
        std::uint64_t sequence = 0; // of submission
        std::int32_t result = 0;
        std::uint16_t buffer = 0;
        event_flag flags = event_flag::none;
        bool cancel_asked = false;
    };
    static_assert(sizeof(mark) <= sizeof(operation::scratch));
    static auto mark_of(operation& op) noexcept -> mark&;

    /// What one try came to.
    struct outcome {
        std::int32_t result = 0; // posix::would_block: nothing happened
        event_flag flags = event_flag::none;
        std::uint16_t buffer = 0;
    };

    // driver.cpp
    [[nodiscard]] auto turn(std::span<event> out, time_point until, bool until_empty) noexcept -> std::size_t;
    void wait(time_point until) noexcept;
    void make_pending(readiness_slot& slot) noexcept;
    void look_at_pending(std::size_t calls) noexcept;

    // start.cpp
    [[nodiscard]] auto perform(operation& op, readiness_slot& slot) noexcept -> outcome;
    [[nodiscard]] auto receive(operation const& op, readiness_slot& slot) noexcept -> outcome;
    [[nodiscard]] auto receive_pooled(operation const& op, readiness_slot& slot) noexcept -> outcome;
    [[nodiscard]] auto send(operation const& op, readiness_slot& slot) noexcept -> std::int32_t;
    [[nodiscard]] auto accept(readiness_slot& slot) noexcept -> std::int32_t;
    [[nodiscard]] auto connect(operation const& op, readiness_slot& slot) noexcept -> std::int32_t;
    [[nodiscard]] auto watch(operation const& op, readiness_slot& slot, bool is_new) noexcept -> std::int32_t;
    [[nodiscard]] auto advance(readiness_slot& slot, direction way, std::size_t& calls) noexcept -> bool;
    void look_at_watches(readiness_slot& slot) noexcept;

    // finish.cpp
    void end(readiness_slot& slot, operation& op, outcome const& how) noexcept;
    void end_alone(operation& op, std::int32_t result) noexcept;
    void ask_to_end(readiness_slot& slot, operation& op) noexcept;
    void end_others(readiness_slot& slot) noexcept;
    void close_when_alone(readiness_slot& slot) noexcept;
    [[nodiscard]] auto hand_out(std::span<event> out) noexcept -> std::size_t;
    [[nodiscard]] auto hand_out(operation& op) noexcept -> event;

    readiness_table table_;
    std::vector<readiness_pool> pools_;
    intrusive_queue<operation, &operation::next> due_; // events, the oldest first
    std::uint32_t first_pending_ = readiness_slot::nobody;
    std::uint32_t last_pending_ = readiness_slot::nobody; // means nothing while there is no first
    std::uint32_t turns_without_kernel_ = 0;
    std::uint64_t sequence_ = 0;
    std::size_t in_flight_ = 0; // operations and discards

    wake_word attention_;
};

} // namespace pitsaw::inline v0
