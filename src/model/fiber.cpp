#include "model/fiber.hpp"

#include <new>
#include <utility>

#include <cxxabi.h>

#if defined(__SANITIZE_ADDRESS__)
#define PITSAW_MODEL_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PITSAW_MODEL_ASAN 1
#endif
#endif

#ifdef PITSAW_MODEL_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

namespace pitsaw::inline v0::model {
namespace {

// How AddressSanitizer is told of the change of stacks; nothing without it.
#ifdef PITSAW_MODEL_ASAN
void start_switch(void** kept, void const* bottom, std::size_t size) noexcept {
    __sanitizer_start_switch_fiber(kept, bottom, size);
}
void finish_switch(void* kept, void const** bottom, std::size_t* size) noexcept {
    __sanitizer_finish_switch_fiber(kept, bottom, size);
}
#else
void start_switch(void**, void const*, std::size_t) noexcept {}
void finish_switch(void*, void const**, std::size_t*) noexcept {}
#endif

// The exceptions that a thread handles, as the ABI (Itanium C++, 2.2.2) lays them out. A fiber that is left
// in a catch block keeps its own.
struct exceptions {
    void* caught;
    unsigned uncaught;
};

thread_local fiber* running = nullptr;
thread_local fiber* left_behind = nullptr; // for whom the first lines after a switch ask

// The stacks of failed runs: what their frames own is never destroyed, and stays reachable from here.
std::vector<std::byte*>& abandoned_stacks() {
    static auto* const all = new std::vector<std::byte*>;
    return *all;
}

} // namespace

fiber::~fiber() { ::operator delete(stack_); }

void fiber::begin(void (*run)()) {
    if (stack_ == nullptr) stack_ = static_cast<std::byte*>(::operator new(stack_bytes));
    run_ = run;
    caught_ = nullptr;
    uncaught_ = 0;
    sanitizer_stack_ = nullptr;
    bottom_ = stack_;
    size_ = stack_bytes;
    position_ = prepare_stack(stack_, stack_bytes, enter);
}

void fiber::switch_to(fiber& next, bool is_last) noexcept {
    auto* const here = reinterpret_cast<exceptions*>(abi::__cxa_get_globals());
    caught_ = here->caught;
    uncaught_ = here->uncaught;
    here->caught = next.caught_;
    here->uncaught = next.uncaught_;
    left_behind = this;
    running = &next;
    start_switch(is_last ? nullptr : &sanitizer_stack_, next.bottom_, next.size_);
    switch_stack(&position_, next.position_);
    arrived();
}

// On the stack of `this`, just after the switch.
void fiber::arrived() noexcept {
    void const* bottom = nullptr;
    std::size_t size = 0;
    finish_switch(sanitizer_stack_, &bottom, &size);
    if (left_behind->stack_ == nullptr) { // the thread's own stack, whose bounds only the sanitizer knows
        left_behind->bottom_ = bottom;
        left_behind->size_ = size;
    }
}

void fiber::enter() {
    running->arrived();
    running->run_();
}

void fiber::abandon() noexcept {
    if (stack_ != nullptr) abandoned_stacks().push_back(std::exchange(stack_, nullptr));
}

} // namespace pitsaw::inline v0::model
