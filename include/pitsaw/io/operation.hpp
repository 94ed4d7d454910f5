#pragma once
#include <pitsaw/base/check.hpp>
#include <pitsaw/io/descriptor.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pitsaw::inline v0 {

struct event;

/// What an operation does. Every driver switches over these without a default, so that a new one does not
/// compile until each has an answer: the compiler is the checklist.
enum class op_code : std::uint8_t {
    nop,      // ends with 0; needs no target
    receive,  // address, length: where to. Ends with the bytes received, 0 at the end of the stream
    send,     // address, length: what. Ends with the bytes sent, which may be fewer
    watch,    // takes nothing. Ends with 0 once the peer has finished, or with a broken connection's error.
              // On a listener and on a socket that is not connected: `not_connected`
    accept,   // ends with the native handle of a new connection; on what does not listen: `invalid_argument`
    connect,  // a wide_operation; address, length: the peer's socket_address. Ends with 0. On a connection
              // and on a listener: `already_connected`. After a refusal it may be tried again
    shutdown, // nothing more will be sent; waits its turn behind the sends before it. Ends with 0
    close,    // ends every other operation on the target first. Ends with 0, whatever state the target is in;
              // a cancel does not reach it
};

enum class op_option : std::uint8_t { // bits
    none = 0,
    multishot = 1, // accept: one event flagged `more` a connection; receive, with pooled: one a buffer; until
                   // it is cancelled or ends by itself
    pooled = 2,    // receive: into a buffer of `pool` that the driver takes when there is something
    vectored = 4,  // send, a wide_operation: address, length: an array of `source_span`
    broken = 8,    // watch: ends only when the connection is broken, not when the peer has finished
};
[[nodiscard]] constexpr op_option operator|(op_option a, op_option b) noexcept {
    return static_cast<op_option>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}
/// Whether `options` has the bit `one`.
[[nodiscard]] constexpr bool has(op_option options, op_option one) noexcept {
    return (static_cast<std::uint8_t>(options) & static_cast<std::uint8_t>(one)) != 0;
}

/// One thing that a driver is to do: plain data that the caller owns and the driver interprets.
///
/// ```
/// operation op(op_code::receive, stream, &on_received);
/// set_buffer(op, bytes);
/// event done;
/// if (!driver.attempt(op, done)) driver.submit(op);     // later the loop calls on_received(op, event)
/// ```
/// Lifetime: the caller's. Immovable, and between `submit` and the final event on loan to the driver together
/// with its buffer and address: the owner may only `cancel` it (driver.hpp, law 2). It may be used again from
/// `on_event` on. Kinds that carry more derive from it. Nothing is allocated for an operation.
/// Threads: the worker of the driver it is submitted to.
/// Size: 80 bytes: 32 of the caller's, 48 of the driver's, 32 of which are raw: they hold an OVERLAPPED.
struct operation {
    using event_handler = void (*)(operation&, event const&) noexcept;

    operation() noexcept = default;
    explicit operation(op_code what, descriptor on = {}, event_handler handler = nullptr) noexcept
        : code(what), target(on), on_event(handler) {}
    operation(operation&&) = delete;
    operation& operator=(operation&&) = delete;
    ~operation() { check(state == 0, "an operation was destroyed while it was in flight"); }

    // The caller's: set before submit, unchanged until the final event.
    op_code code = op_code::nop;
    op_option options = op_option::none;
    std::uint16_t pool = 0;   // pooled: what `driver::lend` returned
    std::uint32_t length = 0; // bytes at `address`
    descriptor target;
    void* address = nullptr;
    event_handler on_event = nullptr; // run by the loop, never by a driver

    // The driver's, from submit to the final event.
    operation* next = nullptr; // the queue it waits in
    alignas(8) std::byte scratch[32] = {};
    std::uint32_t state = 0; // 0: not in flight; otherwise the driver's own
};
static_assert(sizeof(operation) == 80);

/// An operation with room for what a driver's system wants to find in memory while it works: the peer's
/// `sockaddr` of a connect, the `msghdr` of a vectored send.
struct wide_operation : operation {
    using operation::operation;
    alignas(8) std::byte native[64] = {}; // the driver's
};

/// The operation's name as a log or a failed check prints it.
[[nodiscard]] auto name(op_code code) noexcept -> std::string_view;

} // namespace pitsaw::inline v0
