#include <pitsaw/task/this_task.hpp>

#include <pitsaw/base/check.hpp>
#include <pitsaw/task/task.hpp>

namespace pitsaw::inline v0 {

void begin_unwinding() noexcept {
    if (auto* const worker = current_executor()) ++worker->unwinding;
}

void end_unwinding() noexcept {
    if (auto* const worker = current_executor()) --worker->unwinding;
}

std::coroutine_handle<> checkpoint_awaiter::give_turn(promise_header& header) noexcept {
    if (header.env->stop.stop_requested()) return header.stop_here();
    auto& worker = *header.env->executor;
    (void)give_way(header, worker);
    worker.note_suspension(header);
    worker.note_completion(header); // its turn cannot be withdrawn
    return std::noop_coroutine();
}

std::uint32_t number_of(boundary& chain) noexcept {
    static detail::atomic<std::uint32_t> given = 0;
    if (chain.number == 0) chain.number = given.fetch_add(1, std::memory_order_relaxed) + 1; // a count
    return chain.number;
}

namespace {
promise_header& running_task(char const* const otherwise) noexcept {
    auto const* const worker = current_executor();
    check(worker != nullptr && worker->current != nullptr, otherwise);
    return static_cast<promise_header&>(*worker->current);
}
} // namespace

namespace this_task {

std::uint32_t id() noexcept {
    return number_of(*running_task("this_task::id() outside a task: there is none").edge);
}

std::string_view name() noexcept {
    auto const* const given = running_task("this_task::name() outside a task: there is none").env->name;
    return given == nullptr ? std::string_view() : std::string_view(*given);
}

time_point now() noexcept {
    auto const* const worker = current_executor();
    check(worker != nullptr, "this_task::now() outside a task: ask an executor");
    return worker->now();
}

bool is_unwinding() noexcept {
    auto const* const worker = current_executor();
    return worker != nullptr && worker->unwinding != 0;
}

std::vector<std::source_location> async_stack() {
    std::vector<std::source_location> stack;
    auto const* const worker = current_executor();
    if (worker == nullptr) return stack;
    for (auto const* header = static_cast<promise_header const*>(worker->current); header != nullptr;
         header = header->parent)
        if (header->awaiting.line() != 0)
            stack.push_back(header->awaiting); // a leaf in a combinator has none
    return stack;
}

} // namespace this_task

} // namespace pitsaw::inline v0
