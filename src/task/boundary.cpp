#include <pitsaw/task/boundary.hpp>

namespace pitsaw::inline v0 {

namespace {

// A tail call, so that a loop of awaits that complete at once needs no stack. GCC makes one of it under
// -foptimize-sibling-calls, which our targets pass on; elsewhere the budget bounds the depth at 256.
void resume_next(void* const frame) {
    auto* const prefix = static_cast<leaf_frame*>(frame);
    auto const next = prefix->header.edge->child_ended(*prefix->header.edge, prefix->header, ending::value);
    void* const address = next.address();
    auto* const resume = *static_cast<void (**)(void*)>(address);
#if defined(__clang__)
    [[clang::musttail]] return resume(address);
#else
    return resume(address);
#endif
}

void nothing_to_destroy(void*) {}

} // namespace

leaf_frame::leaf_frame() noexcept : resume(resume_next), destroy(nothing_to_destroy) {}

} // namespace pitsaw::inline v0
