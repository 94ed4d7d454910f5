#include "model/fiber.hpp"

#include <cstdint>

// The registers that a called function keeps (System V ABI, AMD64 supplement, 3.2.1), and the stack's
// pointer. The control words of the floating-point units are the same on all stacks of a thread.
asm(R"(
.text
.p2align 4
.hidden pitsaw_model_switch
.globl pitsaw_model_switch
.type pitsaw_model_switch, @function
pitsaw_model_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size pitsaw_model_switch, . - pitsaw_model_switch
)");

extern "C" void pitsaw_model_switch(void** from, void* to) noexcept;

namespace pitsaw::inline v0::model {

auto prepare_stack(std::byte* stack, std::size_t bytes, void (*enter)()) noexcept -> void* {
    auto* top = reinterpret_cast<std::uintptr_t*>(stack + bytes);
    // Where `enter` would return to, 8 below a multiple of 16 as after a call; an unwinder ends here.
    *--top = 0;
    *--top = reinterpret_cast<std::uintptr_t>(enter);
    for (int i = 0; i < 6; ++i) *--top = 0;
    return top;
}

void switch_stack(void** from, void* to) noexcept { pitsaw_model_switch(from, to); }

} // namespace pitsaw::inline v0::model
