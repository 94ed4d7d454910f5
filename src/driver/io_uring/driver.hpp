#pragma once
#include "driver/direction.hpp"
#include "driver/first_generation.hpp"
#include "driver/io_uring/powers.hpp"
#include "driver/io_uring/ring.hpp"
#include "driver/operation_line.hpp"
#include "driver/wake_word.hpp"

#include <pitsaw/io/driver.hpp>

#include <algorithm>
#include <deque>
#include <memory>
#include <vector>

namespace pitsaw::inline v0 {

/// The driver of Linux's io_uring: one `io_uring_enter` a turn submits everything and waits.
///
/// How an operation goes: queued (behind others of its direction) -> backlog (no room in the submission
/// queue) -> working (the kernel owes a completion of it, of its cancel, or both) -> ended (stands in
/// `ended_` or goes straight to the span). Its address and the low bits of its sequence are the user_data of
/// its entries; the final event leaves only when the kernel owes nothing any more, so no completion can
/// arrive late.
///
/// A pooled receive whose pool the kernel found empty *looks* (MSG_PEEK) until there is something to receive,
/// as law 16 asks, and then *takes*. One whose pool the kernel does not know (no buffer rings) begins so.
///
/// Lifetime, Threads, Errors: those of `driver`. The ring becomes the first polling thread's.
class io_uring_driver final : public driver {
  public:
    /// A driver on a ring of its own, or why there is none: EPERM (seccomp, kernel.io_uring_disabled),
    /// ENOSYS, ENOMEM, EMFILE, EINVAL (before Linux 6.1).
    [[nodiscard]] static auto make(io_uring_options const& options = {}) noexcept
        -> io_result<std::unique_ptr<io_uring_driver>>;
    ~io_uring_driver() override;

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
    auto features() const noexcept -> driver_features override;

    [[nodiscard]] auto powers() const noexcept -> io_uring_powers const& { return powers_; }
    [[nodiscard]] auto enters() const noexcept -> std::uint64_t { return ring_.enters(); }

  private:
    enum class stage : std::uint8_t { queued, backlog, working, ended };
    enum class step : std::uint8_t { whole, looks, takes }; // of a pooled receive; others are whole
    enum : std::uint8_t {                                   // bits: completions that the kernel owes
        owes_result = 1,
        owes_cancel = 2,
        owes_event = 4, // we do: the close's final event
    };
    enum : std::uint8_t { // bits
        cancel_asked = 1, // by the owner or a close: it is not tried again
        cancel_waits = 2, // stands in the backlog to have its cancel submitted
        has_buffer = 4,   // `buffer` is taken
        is_settled = 8,   // a watch: `result` is fixed, the poll has yet to end
    };

    struct links {         // what `operation::scratch` holds
        operation* before; // operation_line's
        operation* behind; // in the backlog
        std::uint64_t sequence;
        std::int32_t result;
        std::uint16_t buffer;
        std::uint8_t debts;
        std::uint8_t wishes;
    };
    static_assert(sizeof(links) == sizeof(operation::scratch));
    struct slot { // what a descriptor's index means
        int fd = -1;
        std::uint32_t index = 0;
        std::uint32_t generation = 1;
        std::int32_t broken = 0;          // the connection's error, which the kernel tells only once
        operation_line lines[directions]; // the first is at work
        operation* closing_op = nullptr;  // null while closing: a discard
        std::uint32_t next_closing = 0;   // waits for room in the submission queue
        std::int32_t close_result = 0;
        std::uint8_t close_debts = 0;
        bool is_open = false;
        bool is_closing = false;
        bool is_closed = false; // the kernel has closed it

        [[nodiscard]] auto is_idle() const noexcept -> bool {
            return std::ranges::all_of(lines, [](operation_line const& line) { return line.empty(); });
        }
    };
    static_assert(sizeof(slot) == 64); // of each open descriptor
    static constexpr std::uint32_t nobody = UINT32_MAX;
    struct pool {
        std::span<std::byte> memory;
        std::uint32_t buffer_bytes = 0;
        std::uint32_t count = 0;
        std::uint32_t taken = 0;         // by events
        std::uint32_t offered = 0;       // to the kernel so far, or free: the first ones
        std::vector<bool> is_taken;      // by events
        std::vector<std::uint16_t> free; // without a ring
        io_uring_buf* ring = nullptr;    // null: the kernel does not know this pool
        std::uint32_t ring_entries = 0;  // a power of two
        std::uint16_t ring_tail = 0;
    };

    // The user_data of an entry: an address, the low 16 bits of a sequence or a generation above it, a tag
    // below.
    enum tag : std::uint64_t { of_operation, of_cancel, of_close, of_close_cancel, of_wake, tag_bits = 7 };

    [[nodiscard]] static auto of(operation& op) noexcept -> links&;
    [[nodiscard]] static auto at(operation const& op) noexcept -> stage;
    [[nodiscard]] static auto step_of(operation const& op) noexcept -> step;
    static void set(operation& op, stage where, step what = step::whole) noexcept;

    io_uring_driver() = default;

    // driver.cpp
    [[nodiscard]] auto open(io_uring_options const& options) noexcept -> int;
    [[nodiscard]] auto find(descriptor target) noexcept -> slot*;
    [[nodiscard]] auto turn(std::span<event> out, time_point until, bool until_empty) noexcept -> std::size_t;
    void go_home() noexcept;
    void enter(bool waits, duration at_most) noexcept;

    void arm_wake() noexcept;
    void register_pool(pool& made, std::uint16_t number) noexcept;
    [[nodiscard]] auto offer_more(pool& of) noexcept -> bool;

    // start.cpp
    [[nodiscard]] auto line_of(operation const& op) noexcept -> operation_line&;
    void begin(operation& op, step what) noexcept;
    [[nodiscard]] auto end_without_entry(operation& op) noexcept -> bool;
    void prepare(operation& op) noexcept;
    void prepare_receive(operation& op, io_uring_sqe& entry) noexcept;
    [[nodiscard]] static auto write_address(operation& op) noexcept -> std::int32_t;
    void ask_to_end(operation& op, bool tell_kernel) noexcept;
    void tell_kernel_to_end(operation& op) noexcept;
    void prepare_cancel(operation& op) noexcept;
    void begin_close(slot& on, operation* op) noexcept;
    void prepare_close(slot& on) noexcept;
    void to_backlog(operation& op) noexcept;
    void flush_backlog() noexcept;
    [[nodiscard]] auto user_data(operation& op, tag what) noexcept -> std::uint64_t;

    // finish.cpp
    [[nodiscard]] auto reap(std::span<event> out) noexcept -> std::size_t;
    [[nodiscard]] auto take_ended(std::span<event> out) noexcept -> std::size_t;
    [[nodiscard]] auto on_result(operation& op, io_uring_cqe const& done, event& out) noexcept -> bool;
    [[nodiscard]] auto settle(operation& op, std::int32_t result, event& out) noexcept -> bool;
    [[nodiscard]] auto settle_pooled(operation& op, std::int32_t result, event& out) noexcept -> bool;
    [[nodiscard]] auto again(operation& op, step what, event& out) noexcept -> bool;
    [[nodiscard]] auto finish(operation& op, std::int32_t result, event& out) noexcept -> bool;
    [[nodiscard]] auto watch_result(operation const& op, std::int32_t mask) noexcept -> std::int32_t;
    void end_watch(operation& op, std::int32_t result) noexcept;
    void end_later(operation& op, std::int32_t result) noexcept;
    [[nodiscard]] auto deliver(operation& op) noexcept -> event;
    void leave_queue(operation& op) noexcept;
    void note_buffer(operation& op, std::uint16_t buffer) noexcept;
    void drop_buffer(operation& op) noexcept;
    void put_buffer(pool& to, std::uint16_t buffer) noexcept;
    void close_when_alone(slot& on) noexcept;
    void free_slot(slot& on) noexcept;

    io_uring ring_;
    io_uring_powers powers_;
    std::deque<slot> slots_; // an address is kept by the kernel while it closes
    std::vector<std::uint32_t> free_slots_;
    std::deque<pool> pools_;
    operation_line targetless_; // nops
    operation_line ended_;      // their events have not left yet
    operation* backlog_first_ = nullptr;
    operation* backlog_last_ = nullptr;
    std::uint32_t closing_first_ = nobody; // a slot
    std::uint64_t sequence_ = 0;
    std::size_t in_flight_ = 0;
    int wake_fd_ = -1; // without message_wake
    bool wake_is_armed_ = false;
    std::uint32_t const first_generation_ = first_generation();
    std::uint64_t home_ = 0; // a thread's number; none before the first poll
    std::byte looked_at_{};  // where every look puts its byte; nobody reads it
    wake_word wake_;
};

} // namespace pitsaw::inline v0
