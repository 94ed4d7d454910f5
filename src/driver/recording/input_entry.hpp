#pragma once
#include <pitsaw/base/atomic.hpp>
#include <pitsaw/io/descriptor.hpp>
#include <pitsaw/io/operation.hpp>

#include <cstddef>
#include <cstdint>

namespace pitsaw::inline v0 {

/// A call that a worker made of its driver.
enum class driver_call : std::uint8_t {
    now,         // value: the time
    attach,      // subject: the handle; result, target
    open_stream, // code: the address_family; result, target
    control,     // code: the kind; then the command as it was, and as it became
    lend,        // value: bytes; length: of a buffer; result
    attempt,     // result, flags, value: the buffer, if `is_done`; then the bytes received
    submit,
    cancel,
    poll,  // result: how many `event` entries follow
    event, // subject: of the submit; result, flags, value: the buffer; then the bytes received
    discard,
    drain,  // as poll; length: what remained
    detach, // subject: the handle; result
};

/// One call with its answer, as a recording holds it. `bytes` of them, then what was received, filled up to
/// eight.
struct input_entry {
    static constexpr std::uint8_t is_done = 0x80; // beside the bits of event_flag

    std::uint32_t bytes = sizeof(input_entry); // with what follows it
    driver_call call = driver_call::now;
    std::uint8_t code = 0; // op_code, where there is an operation
    std::uint8_t options = 0;
    std::uint8_t flags = 0;
    std::uint32_t length = 0; // of the operation
    std::int32_t result = 0;
    descriptor target;
    std::uint64_t subject = 0; // the operation's address
    std::int64_t value = 0;
    std::uint64_t checksum = 0; // of what is to be sent, or connected to
    std::uint32_t content = 0;  // bytes that follow
    std::uint32_t unused = 0;

    [[nodiscard]] auto with_content(std::size_t content_bytes) const noexcept -> input_entry {
        auto made = *this;
        made.content = static_cast<std::uint32_t>(content_bytes);
        made.bytes = static_cast<std::uint32_t>(sizeof(input_entry) + (content_bytes + 7) / 8 * 8);
        return made;
    }
};
static_assert(sizeof(input_entry) == 56);

/// How full the memory for inputs is. The worker writes it, another process may read it.
struct input_room {
    detail::atomic<std::uint64_t> end = 0;     // bytes written, whole entries; release, with who reads them
    detail::atomic<std::uint64_t> entries = 0; // the same
    detail::atomic<std::uint32_t> is_full = 0; // 1: what came after `end` was not kept
    detail::atomic<std::uint32_t> wakes = 0;   // any thread, relaxed: what they brought is in no entry
};

/// The operation's part of an entry, and a checksum of the bytes that it lends for reading.
[[nodiscard]] auto entry_of(driver_call call, operation const& op) noexcept -> input_entry;

} // namespace pitsaw::inline v0
