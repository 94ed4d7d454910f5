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

namespace this_task {

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
