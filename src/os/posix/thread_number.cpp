#include "os/posix/thread_number.hpp"

#include <atomic>

namespace pitsaw::inline v0 {

std::uint64_t this_thread_number() noexcept {
    static std::atomic<std::uint64_t> threads = 0;
    thread_local auto const number = threads.fetch_add(1, std::memory_order_relaxed) + 1;
    return number;
}

} // namespace pitsaw::inline v0
