#pragma once
#include <pitsaw/base/atomic.hpp>

#include <coroutine>
#include <cstddef>
#include <cstdint>

namespace pitsaw::inline v0 {

/// What a queue does with a continuation when its turn comes; kept in the low bits of the link.
enum class resume_as : std::uintptr_t {
    coroutine = 0, ///< resume it; it is a `promise_header`
    stopped = 1,   ///< it is a `promise_header` that stops: walk up to its boundary
    callback = 2,  ///< resume it; it is no header, so nobody is "the current task" meanwhile
    ended = 3,     ///< it is a `promise_header` whose result stands: its clean-ups, then whoever waits for it
    completed = 4, ///< it is a `promise_header` whose leaf completed elsewhere: clear the stop slot, resume
};

/// The first eight bytes of every promise: one link, so that a suspended coroutine waits in a ready queue or
/// an inbox without an allocation.
///
/// A coroutine frame begins with two function pointers (resume, destroy) and then the promise; GCC, Clang and
/// MSVC agree on that for promises aligned to at most 16 bytes, and `task` refuses others. So the address of
/// a continuation is all that is needed to resume it, and a *hand-made* frame (`frame_prefix` before a
/// continuation) can stand where a coroutine is expected.
///
/// Lifetime: that of its frame; immovable. Threads: the link belongs to whoever may push it: the worker, or
/// the one foreign thread that hands it over.
class continuation {
  public:
    static constexpr std::size_t frame_prefix = 2 * sizeof(void*);

    continuation() = default;
    continuation(continuation&&) = delete;

    /// The coroutine (or hand-made frame) this continuation stands in.
    [[nodiscard]] std::coroutine_handle<> handle() noexcept {
        return std::coroutine_handle<>::from_address(reinterpret_cast<std::byte*>(this) - frame_prefix);
    }

    detail::guarded<std::uintptr_t> link = 0; ///< next in the queue | `resume_as`; written by whoever pushes
};

/// First in, first out, intrusive, bounded by the coroutines that exist. Threads: its worker only.
class ready_queue {
  public:
    ready_queue() = default;
    ready_queue(ready_queue&&) = delete;

    [[nodiscard]] bool empty() const noexcept { return head_ == 0; }

    void push(continuation& last, resume_as how = resume_as::coroutine) noexcept {
        last.link = static_cast<std::uintptr_t>(how);
        *tail_ |= reinterpret_cast<std::uintptr_t>(&last);
        tail_ = &last.link;
    }

    /// Before all that wait: the next that is taken.
    void push_first(continuation& first, resume_as how) noexcept {
        first.link = head_ | static_cast<std::uintptr_t>(how);
        if (head_ == 0) tail_ = &first.link;
        head_ = reinterpret_cast<std::uintptr_t>(&first);
    }

    struct entry {
        continuation* next;
        resume_as how;
    };

    /// Takes the first; the queue must not be empty.
    [[nodiscard]] entry pop() noexcept {
        std::uintptr_t const address = head_;
        auto* const first = reinterpret_cast<continuation*>(address);
        std::uintptr_t const link = first->link;
        auto const how = link & tag_mask;
        head_ = link & ~tag_mask;
        if (head_ == 0) tail_ = &head_;
        return {first, static_cast<resume_as>(how)};
    }

  private:
    static constexpr std::uintptr_t tag_mask = 7;
    static_assert(alignof(continuation) > tag_mask);

    detail::guarded<std::uintptr_t> head_ = 0;
    detail::guarded<std::uintptr_t>* tail_ =
        &head_; ///< the link that the next push completes; its tag bits are the owner's
};

} // namespace pitsaw::inline v0
