#include <pitsaw/sync/mutex.hpp>

#include <mutex>

namespace pitsaw::inline v0 {

mutex_guard mutex::try_lock() noexcept {
    std::scoped_lock const held(guard);
    return take() ? mutex_guard(*this) : mutex_guard();
}

} // namespace pitsaw::inline v0
