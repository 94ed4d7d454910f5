#include <pitsaw/executor/remote_ask.hpp>

#include <type_traits>

namespace pitsaw::inline v0 {

void remote_ask::arrived(void* const where) noexcept {
    static_assert(std::is_standard_layout_v<detail::atomic<std::uint8_t>>);
    auto& self = *static_cast<remote_ask*>(where); // the frame is the first member
    auto const before = self.bits_.fetch_or(delivered, std::memory_order_acq_rel); // pairs with close()
    self.frame_.on_arrival(self.frame_.owner, (before & closed) != 0);
}

} // namespace pitsaw::inline v0
