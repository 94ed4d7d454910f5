#pragma once
#include <pitsaw/base/clock.hpp>
#include <pitsaw/io/descriptor.hpp>
#include <pitsaw/io/event.hpp>
#include <pitsaw/io/operation.hpp>
#include <pitsaw/io/result.hpp>
#include <pitsaw/io/socket_command.hpp>

#include <cstddef>
#include <span>

namespace pitsaw::inline v0 {

/// What a driver is and can do.
struct driver_features {
    char const* name = "";     // "sim", "io_uring", ...
    bool virtual_time = false; // time passes only where the driver says so: a wait costs nothing
};

/// Buffers of one pool: what Linux takes in a ring of them (io_uring_register(2),
/// IORING_REGISTER_PBUF_RING).
inline constexpr std::size_t pool_buffers_max = 32'768;

/// What one call of `driver::drain` leaves.
struct drain_progress {
    std::size_t events = 0;            // written to the span; run them before the next call
    std::size_t remaining = 0;         // operations and discards still in flight
    operation const* oldest = nullptr; // of these operations the first submitted, to be named
};

/// Interprets operations: the kernel's side of pitsaw, one for each worker.
///
/// ```
/// std::array<event, 64> out;
/// for (;;) {
///     auto const count = driver.poll(out, next_timer);
///     for (auto const& e : std::span(out).first(count)) e.op->on_event(*e.op, e);
/// }
/// ```
///
/// The laws. Each is checked on every driver by tests/driver.
///
/// 1. **One final event.** Each submitted operation yields zero or more events flagged `more`, then
///    exactly one without. That one is the final event; after it the operation is not in flight.
/// 2. **Loan.** From `submit` to the final event the operation and its buffer and address belong to the
///    driver and the kernel. Their owner may only `cancel`. After the final event nothing writes to them
///    any more.
/// 3. **Cancel asks.** It may be repeated and is never lost; the final event still has to come. It is
///    harmless on an operation that is not in flight, one whose final event sits in a span not yet run
///    included. It never chooses the result: an operation that completed reports its bytes or its handle;
///    one that ends with `operation_canceled` has moved nothing.
/// 4. **Results own resources.** A handle in an event belongs to `on_event`, which closes it (attach,
///    then discard) if nobody wants it any more. So does a buffer, which it gives back. A result of 0 and an
///    error bring no buffer.
/// 5. **No re-entry.** `attempt`, `submit`, `cancel` and `poll` run no user code. `poll` fills the span;
///    the loop calls `on_event` afterwards.
/// 6. **Clean results.** No `interrupted`, no `operation_would_block` and no spurious wake leaves a
///    driver: `poll` returns 0 only after a wake or at `until`. Short transfers do leave it.
/// 7. **Submit never fails.** When a queue is full the operation waits in an intrusive one; what is wrong
///    with it arrives as its final event. A multishot option that the driver lacks is emulated.
/// 8. **Bounded.** `poll` returns at most `out.size()` events and keeps the rest for the next call,
///    losing none. A multishot operation has a bounded number of events outstanding. The backlog is
///    bounded by the operations that exist.
/// 9. **Errors are translated once**, from the event's native number to a `std::error_code`, by
///    `to_error`.
/// 10. **Identity is generational.** A stale completion, readiness event, cancel or descriptor can never
///     reach a newer operation or an object that reuses a number.
/// 11. **Home.** A descriptor has one driver for life; its object may leave by `detach` and have another.
///     Its operations are submitted there and their events arrive there, on the thread of that driver's
///     worker.
/// 12. **Close** is an operation that first ends every other on its descriptor; its own final event is
///     the last. `discard` does the same from a record that the driver owns. Nothing else closes a
///     descriptor, and its number is not reused before.
/// 13. **Order.** At most one operation for each descriptor and direction (receive, accept; send,
///     connect, shutdown) is at work. Others wait in the driver, first in, first out, and `attempt`
///     declines to overtake them. A watch has no direction: any number of them wait at a time.
/// 14. **Wake is sticky.** A wake before or during a `poll` makes that `poll` return.
/// 15. **Teardown.** A driver is destroyed with nothing in flight; `drain` cancels, waits, and names what
///     remains.
/// 16. **Pools.** A pooled receive takes its buffer when there is something to receive, so that one that
///     waits holds none. Where the pool is empty then, it ends with `no_buffer_space`, and what there was to
///     receive stays where it is. A buffer is in one event at a time, until it is given back.
///
/// Lifetime: outlives its operations and whoever may call `wake`. Immovable. What is still attached when it
/// is destroyed is closed.
/// Threads: one worker's; every member but `wake` is called by that worker only.
/// Errors: those of an operation are in its final event; only what is done at once returns one.
class driver {
  public:
    driver() = default;
    driver(driver&&) = delete;
    driver& operator=(driver&&) = delete;
    virtual ~driver() = default;

    /// The driver owns time: a simulated one can hold every clock of its world in its hand.
    [[nodiscard]] virtual auto now() const noexcept -> time_point = 0;

    /// Takes the object over, also when it fails: the handle is then closed. A handle of nothing that is
    /// open: `bad_file_descriptor`. A driver that cannot wait for files refuses them with
    /// `operation_not_permitted`; one that takes them ends what only a socket does with `not_a_socket`.
    [[nodiscard]] virtual auto attach(native_handle handle) noexcept -> io_result<descriptor> = 0;

    /// A stream socket that is not connected yet. `address_family_not_supported` for a family of none.
    [[nodiscard]] virtual auto open_stream(address_family family) noexcept -> io_result<descriptor> = 0;

    /// A call that does not wait. On a stale descriptor, and on one that is being closed, every command
    /// fails with `bad_file_descriptor`.
    [[nodiscard]] virtual auto control(descriptor target, socket_command& command) noexcept
        -> io_result<void> = 0;

    /// Lends `memory` for pooled receives, cut into at most `pool_buffers_max` buffers of `buffer_bytes`.
    /// The loan lasts as long as the driver. Returns the pool's number. Fails with `not_enough_memory` and
    /// the like.
    [[nodiscard]] virtual auto lend(std::span<std::byte> memory, std::uint32_t buffer_bytes) noexcept
        -> io_result<std::uint16_t> = 0;

    /// Ends the use of a buffer that an event brought.
    virtual void give_back(std::uint16_t pool, std::uint16_t buffer) noexcept = 0;

    /// Tries without waiting. True: it is done, `finished` holds the result, the operation was never in
    /// flight and its `on_event` is not due. False: nothing happened; submit it. Declines what is
    /// multishot.
    [[nodiscard]] virtual auto attempt(operation& op, event& finished) noexcept -> bool = 0;

    /// Starts the operation. Does not fail, wait or call back.
    virtual void submit(operation& op) noexcept = 0;

    /// Asks the operation to end soon.
    virtual void cancel(operation& op) noexcept = 0;

    /// Waits until something happened, a wake or `until`, whichever is first, and returns how many events
    /// it wrote. `until` in the past: does not wait. `never`: waits as long as it takes. `out` is not
    /// empty.
    [[nodiscard]] virtual auto poll(std::span<event> out, time_point until) noexcept -> std::size_t = 0;

    /// Makes the current or the next `poll` return. Any thread. What the caller wrote before is visible
    /// after that `poll` has returned.
    virtual void wake() noexcept = 0;

    /// Gives the object back, open, for another driver to attach; the descriptor is stale from here on.
    /// Fails with `device_or_resource_busy` while an operation is in flight on it, which changes nothing,
    /// and with `bad_file_descriptor` for one that is stale or being closed.
    [[nodiscard]] virtual auto detach(descriptor target) noexcept -> io_result<native_handle> = 0;

    /// Closes a descriptor that nobody needs any more; the driver does the rest. No event tells.
    virtual void discard(descriptor target) noexcept = 0;

    /// Asks every operation in flight to end, then acts as `poll`. Call it again, after running the events,
    /// until nothing remains or `deadline` has passed.
    [[nodiscard]] virtual auto drain(std::span<event> out, time_point deadline) noexcept
        -> drain_progress = 0;

    [[nodiscard]] virtual auto features() const noexcept -> driver_features = 0;
};

} // namespace pitsaw::inline v0
