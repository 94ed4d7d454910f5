#include "os/linux/cpu_affinity.hpp"

#include <cerrno>
#include <sched.h>

namespace pitsaw::inline v0 {

int get_cpu_mask(cpu_mask& into) noexcept {
    into = cpu_mask();
    // The kernel's mask may be shorter; glibc clears what lies behind it.
    auto* const set = reinterpret_cast<cpu_set_t*>(into.bits.data());
    return sched_getaffinity(0, sizeof(into.bits), set) == 0 ? 0 : -errno;
}

int set_cpu_mask(cpu_mask const& to) noexcept {
    auto const* const set = reinterpret_cast<cpu_set_t const*>(to.bits.data());
    return sched_setaffinity(0, sizeof(to.bits), set) == 0 ? 0 : -errno;
}

cpu_mask mask_of_cpu(std::uint32_t const number) noexcept {
    cpu_mask mask;
    if (number < 64 * mask.bits.size()) mask.bits[number / 64] = std::uint64_t{1} << (number % 64);
    return mask;
}

pinned_thread::pinned_thread(std::uint32_t const cpu) noexcept : result_(get_cpu_mask(before_)) {
    if (result_ == 0) result_ = set_cpu_mask(mask_of_cpu(cpu));
}

pinned_thread::~pinned_thread() {
    if (result_ == 0) (void)set_cpu_mask(before_); // it could be there before
}

} // namespace pitsaw::inline v0
