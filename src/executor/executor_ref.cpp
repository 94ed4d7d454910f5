#include <pitsaw/executor/executor_ref.hpp>

#include <utility>

namespace pitsaw::inline v0 {

namespace {
auto worker_of_this_thread() noexcept -> executor*& { return detail::per_thread<executor, executor>(); }
} // namespace

executor* current_executor() noexcept { return worker_of_this_thread(); }

executor* exchange_current_executor(executor* const next) noexcept {
    return std::exchange(worker_of_this_thread(), next);
}

void executor::post_from_any_thread(continuation& to, resume_as const how, priority const level) noexcept {
    if (current_executor() == this) {
        ready.push(to, how, level);
        return;
    }
    post_in_order(to, how, level);
}

void executor::post_in_order(continuation& to, resume_as const how, priority const level) noexcept {
    posters_.fetch_add(1, std::memory_order_relaxed); // the push publishes it
    if (inboxes_[static_cast<std::size_t>(level)].push(to, static_cast<std::uintptr_t>(how))) wake();
    posters_.fetch_sub(1, std::memory_order_release); // pairs with wait_for_posters()
}

void executor::wait_for_posters() const noexcept {
    while (posters_.load(std::memory_order_acquire) != 0) detail::yield_thread();
}

std::coroutine_handle<> executor::park(continuation& to, priority const level, bool const is_first) noexcept {
    current = nullptr;
    if (is_first)
        ready.push_first(to, resume_as::coroutine, level);
    else
        ready.push(to, resume_as::coroutine, level);
    return std::noop_coroutine();
}

} // namespace pitsaw::inline v0
