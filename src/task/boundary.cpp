#include <pitsaw/task/boundary.hpp>

namespace pitsaw::inline v0 {

namespace {

std::coroutine_handle<> next_after(void* const frame) noexcept {
    auto& header = static_cast<leaf_frame*>(frame)->header;
    return header.edge->child_ended(*header.edge, header, ending::value);
}

using resume_function = void (*)(void*);
resume_function resume_of(void* const frame) noexcept { return *static_cast<resume_function*>(frame); }

// A tail call, so that a loop of awaits that complete at once needs no stack. GCC makes one of it under
// -foptimize-sibling-calls, which our targets pass on; elsewhere the budget bounds the depth at 256.
// UBSan compares function types, and a no-op coroutine's resume function takes no argument in libstdc++.
#if defined(__clang__)
[[clang::no_sanitize("function")]] void resume_next(void* const frame) {
    void* const next = next_after(frame).address();
    [[clang::musttail]] return resume_of(next)(next);
}
#else
void resume_next(void* const frame) {
    void* const next = next_after(frame).address();
    return resume_of(next)(next);
}
#endif

void nothing_to_destroy(void*) {}

} // namespace

leaf_frame::leaf_frame() noexcept : resume(resume_next), destroy(nothing_to_destroy) {}

} // namespace pitsaw::inline v0
