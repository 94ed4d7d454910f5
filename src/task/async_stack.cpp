#include <pitsaw/base/check.hpp>
#include <pitsaw/task/promise_header.hpp>

#include <cstdio>
#include <utility>

namespace pitsaw::inline v0 {

namespace detail {

// Walks the headers itself: the process is about to abort, perhaps for lack of memory.
void print_async_stack_of_this_thread() noexcept {
    auto const* const worker = current_executor();
    if (worker == nullptr || worker->current == nullptr) return;
    std::fputs("async stack, innermost first:\n", stderr);
    bool is_told = false; // which task it is
    for (auto const* header = static_cast<promise_header const*>(worker->current); header != nullptr;
         header = header->parent) {
        auto const& at = header->awaiting;
        if (at.line() != 0)
            std::fprintf(stderr, "  %s:%u %s\n", at.file_name(), unsigned(at.line()), at.function_name());
        if (header->edge == nullptr || header->edge->root != header) continue;
        auto const* const name = header->env->name;
        if (name != nullptr)
            std::fprintf(stderr, "  in task %u \"%s\"\n", number_of(*header->edge), name->c_str());
        else if (!std::exchange(is_told, true))
            std::fprintf(stderr, "  in task %u\n", number_of(*header->edge));
    }
}

} // namespace detail

} // namespace pitsaw::inline v0
