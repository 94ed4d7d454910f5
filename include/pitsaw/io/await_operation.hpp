#pragma once
#include <pitsaw/io/event.hpp>
#include <pitsaw/io/operation.hpp>
#include <pitsaw/task/promise_header.hpp>

#include <coroutine>

namespace pitsaw::inline v0 {

/// A leaf that is one operation of the worker's driver: what every receive, send and accept is made of.
///
/// It tries first, then submits; the kernel's loan lasts until the final event, and only that ends the wait,
/// so the frame that holds this outlives the loan, whatever is stopped when.
///
/// ```cpp
/// struct receive_some : operation_leaf {
///     receive_some(descriptor from, std::span<std::byte> into) : operation_leaf(op_code::receive, from) {
///         set_buffer(*this, into);
///     }
///     io_result<std::size_t> await_resume() const noexcept { return to_result(done()); }
/// };
/// ```
/// Lifetime: immovable, in the awaiting frame. Threads: the worker that its descriptor is at home on. Errors:
/// in the result. Stopping: the driver is asked to cancel; an operation that completed all the same delivers,
/// one that was cancelled stops. `operation_canceled` without a stop (a close) is a result.
class operation_leaf : public operation, waiter {
  public:
    operation_leaf(op_code what, descriptor on) noexcept : operation(what, on, ended), waiter(cancelled) {}

    [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept;

  protected:
    /// The final event.
    [[nodiscard]] event const& done() const noexcept { return done_; }

  private:
    static void ended(operation& self, event const& done) noexcept;
    static void cancelled(waiter& self) noexcept;

    event done_;
    promise_header* header_ = nullptr;
};

} // namespace pitsaw::inline v0
