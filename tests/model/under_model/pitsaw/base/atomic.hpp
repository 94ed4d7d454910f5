#pragma once
#include <pitsaw/model/atomic.hpp>
#include <pitsaw/model/thread.hpp>
#include <pitsaw/model/var.hpp>

#include <source_location>

// In the place of include/pitsaw/base/atomic.hpp, whose comments say what each is.
namespace pitsaw::inline v0::detail {

template <class T> using atomic = model::atomic<T>;
template <class T> using guarded = model::var<T>;

using thread_id = unsigned;
[[nodiscard]] inline auto this_thread_id() noexcept -> thread_id { return model::thread_number(); }

inline void yield_thread(std::source_location where = std::source_location::current()) noexcept {
    model::yield(where);
}
inline void pause_thread(unsigned, std::source_location where = std::source_location::current()) noexcept {
    model::yield(where);
}

template <class T, class Tag> [[nodiscard]] auto per_thread() noexcept -> T*& {
    static constexpr char key = 0;
    return reinterpret_cast<T*&>(model::thread_local_pointer(&key));
}

} // namespace pitsaw::inline v0::detail
