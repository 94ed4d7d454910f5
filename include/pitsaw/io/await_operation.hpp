#pragma once
#include <pitsaw/io/event.hpp>
#include <pitsaw/io/operation.hpp>
#include <pitsaw/task/promise_header.hpp>

#include <coroutine>
#include <cstdint>

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
/// `Operation` is `operation` or `wide_operation`.
template <class Operation> class basic_operation_leaf : public Operation, protected waiter {
  public:
    basic_operation_leaf(op_code what, descriptor on) noexcept
        : Operation(what, on, ended), waiter(cancelled) {}

    [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept;

  protected:
    /// The final event.
    [[nodiscard]] event done() const noexcept {
        auto* const self = const_cast<basic_operation_leaf*>(this);
        return {.op = self, .result = result_, .flags = flags_, .buffer = buffer_};
    }
    /// Whether the final event has come: what its result owns is then to be taken or freed.
    [[nodiscard]] bool has_ended() const noexcept { return has_ended_; }

    /// Public in a leaf whose result is an error exactly if the event's is negative: `or_return` then ends
    /// the coroutine without resuming it. Before the start.
    void on_error(error_ending end) noexcept { on_error_ = end; }

    // For a leaf with a start of its own.

    /// Keeps the final event.
    void note(event const& done) noexcept {
        result_ = done.result;
        flags_ = done.flags;
        buffer_ = done.buffer;
        has_ended_ = true;
    }
    /// After an attempt that succeeded and was noted.
    [[nodiscard]] std::coroutine_handle<> go_on(promise_header& header) noexcept;
    /// After an attempt that did not succeed: submits and waits.
    [[nodiscard]] std::coroutine_handle<> submit_for(promise_header& header) noexcept;

    static void ended(operation& self, event const& done) noexcept;

    promise_header* header_ = nullptr; // from the submit on
    std::int32_t result_ = 0;
    std::uint16_t buffer_ = 0;
    event_flag flags_ = event_flag::none;

  private:
    static void cancelled(waiter& self) noexcept;

    bool has_ended_ = false;
    error_ending on_error_ = nullptr;
};

struct operation_leaf : basic_operation_leaf<operation> {
    using basic_operation_leaf::basic_operation_leaf;
};
/// The same for connects and vectored sends.
struct wide_operation_leaf : basic_operation_leaf<wide_operation> {
    using basic_operation_leaf::basic_operation_leaf;
};

extern template class basic_operation_leaf<operation>;
extern template class basic_operation_leaf<wide_operation>;

} // namespace pitsaw::inline v0
