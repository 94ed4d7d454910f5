#include <pitsaw/base/check.hpp>
#include <pitsaw/task/promise_header.hpp>

#include <cstdio>

namespace pitsaw::inline v0 {

namespace detail {

// Walks the headers itself: the process is about to abort, perhaps for lack of memory.
void print_async_stack_of_this_thread() noexcept {
    auto const* const worker = current_executor();
    if (worker == nullptr || worker->current == nullptr) return;
    std::fputs("async stack, innermost first:\n", stderr);
    for (auto const* header = static_cast<promise_header const*>(worker->current); header != nullptr;
         header = header->parent) {
        auto const& at = header->awaiting;
        if (at.line() != 0)
            std::fprintf(stderr, "  %s:%u %s\n", at.file_name(), unsigned(at.line()), at.function_name());
    }
}

} // namespace detail

} // namespace pitsaw::inline v0
