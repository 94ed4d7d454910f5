#pragma once
#include <cstdint>

namespace pitsaw::inline v0 {

/// One counter for two ends: it bounds the native stack where a compiler makes no tail calls, and it makes a
/// task that never waits give way to the others.
///
/// Each transfer of control between coroutines spends one; the 256th goes to the tail of the ready queue
/// instead (docs/design/0002). Threads: its worker only.
class budget {
  public:
    static constexpr std::int32_t hops_max = 256;

    /// Whether the hop may be made at once. What may be long counts for several.
    [[nodiscard]] bool spend(std::int32_t hops = 1) noexcept { return (left_ -= hops) > 0; }

    /// Whether the latest resume used all of it.
    [[nodiscard]] bool is_spent() const noexcept { return left_ <= 0; }

    void refill() noexcept { left_ = hops_max; }

  private:
    std::int32_t left_ = hops_max;
};

} // namespace pitsaw::inline v0
