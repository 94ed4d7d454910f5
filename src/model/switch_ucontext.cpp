#include "model/fiber.hpp"

#include <new>

#include <ucontext.h>

// For machines without a switch of their own: POSIX's, which makes a system call each time.

namespace pitsaw::inline v0::model {

auto prepare_stack(std::byte* stack, std::size_t bytes, void (*enter)()) noexcept -> void* {
    auto* const made = ::new (stack) ucontext_t; // at the far end of what it describes
    ::getcontext(made);
    constexpr std::size_t room = (sizeof(ucontext_t) + 63) / 64 * 64;
    made->uc_stack.ss_sp = stack + room;
    made->uc_stack.ss_size = bytes - room;
    made->uc_link = nullptr;
    ::makecontext(made, enter, 0);
    return made;
}

void switch_stack(void** from, void* to) noexcept {
    ucontext_t here; // on the stack that is left, so it lives as long as somebody may come back
    *from = &here;
    ::swapcontext(&here, static_cast<ucontext_t*>(to));
}

} // namespace pitsaw::inline v0::model
