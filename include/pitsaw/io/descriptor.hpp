#pragma once
#include <cstdint>

namespace pitsaw::inline v0 {

/// What the system underneath calls an open object: a file descriptor, a HANDLE, an index of a simulated one.
///
/// It is a number without identity: the system reuses it as soon as it is closed. `driver::attach` takes the
/// object over and gives a `descriptor`, which has one. The value is never negative for a valid object.
enum class native_handle : std::int64_t { none = -1 };

/// An open object as one driver knows it: a table index (or fixed-file slot) and its tenant's generation.
///
/// ```
/// auto attached = driver.attach(handle);
/// if (attached) op.target = *attached;
/// ```
/// Lifetime: valid from `attach` until the final event of its close, or until `discard`. A copy that outlives
/// that is harmless: the generation no longer fits, and an operation on it ends with `bad_file_descriptor`.
/// Threads: a value; use it with the driver that gave it and nowhere else.
struct descriptor {
    std::uint32_t index = 0;
    std::uint32_t generation = 0; // 0: no descriptor

    [[nodiscard]] constexpr explicit operator bool() const noexcept { return generation != 0; }
    friend constexpr bool operator==(descriptor, descriptor) noexcept = default;
};
static_assert(sizeof(descriptor) == 8);

} // namespace pitsaw::inline v0
