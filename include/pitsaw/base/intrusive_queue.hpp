#pragma once
#include <pitsaw/base/check.hpp>

namespace pitsaw::inline v0 {

/// A first-in-first-out queue, singly linked through a pointer that the elements already have.
///
///     struct job { int number; job* next = nullptr; };
///     intrusive_queue<job, &job::next> ready;
///     job first{1}, second{2};
///     ready.push_back(first);
///     ready.push_back(second);
///     while (auto* next = ready.pop_front()) run(*next);   // first, then second
///
/// Lifetime: owns nothing; an element stays where it is while it is queued. Its pointer belongs to the queue
/// from push to pop and is null after the pop. A queue may be moved; what it held goes along. Threads: one at
/// a time. Errors: none. 16 bytes.
template <class T, T* T::* Next> class intrusive_queue {
  public:
    constexpr intrusive_queue() noexcept = default;
    intrusive_queue(intrusive_queue&& other) noexcept { splice_back(other); }
    ~intrusive_queue() {
        debug_check(empty(), "a queue is destroyed with elements in it: take them out first");
    }

    [[nodiscard]] auto empty() const noexcept -> bool { return first_ == nullptr; }

    /// Null when the queue is empty.
    [[nodiscard]] auto front() const noexcept -> T* { return first_; }

    void push_back(T& added) noexcept {
        added.*Next = nullptr;
        (empty() ? first_ : last_->*Next) = &added;
        last_ = &added;
    }
    void push_front(T& added) noexcept {
        if (empty()) last_ = &added;
        added.*Next = first_;
        first_ = &added;
    }

    /// The first element, taken out; null when there is none.
    [[nodiscard]] auto pop_front() noexcept -> T* {
        auto* const popped = first_;
        if (popped == nullptr) return nullptr;
        first_ = popped->*Next;
        popped->*Next = nullptr;
        return popped;
    }

    /// Appends all of `other` in its order and leaves it empty. O(1).
    void splice_back(intrusive_queue& other) noexcept {
        if (other.empty()) return;
        (empty() ? first_ : last_->*Next) = other.first_;
        last_ = other.last_;
        other.first_ = nullptr;
    }

  private:
    T* first_ = nullptr;
    T* last_ = nullptr; // means nothing while first_ is null
};

} // namespace pitsaw::inline v0
