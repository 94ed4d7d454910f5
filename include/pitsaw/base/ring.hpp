#pragma once
#include <pitsaw/base/check.hpp>

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace pitsaw::inline v0 {

/// First in, first out, with room for a fixed number of elements that is allocated once.
///
///     ring<int> waiting(16);
///     if (!waiting.is_full()) waiting.push(1);
///     int next = waiting.pop();
///
/// Lifetime: destroys what is left in it. Threads: one at a time. Errors: std::bad_alloc from the
/// constructor; pushing into a full one and popping from an empty one are debug checks. T moves without
/// throwing.
template <class T> class ring {
    static_assert(std::is_nothrow_move_constructible_v<T>, "an element that moves is not to be lost");

  public:
    explicit ring(std::size_t capacity)
        : elements_(std::allocator<T>().allocate(capacity)), capacity_(capacity) {}
    ring(ring&&) = delete;
    ~ring() {
        clear();
        std::allocator<T>().deallocate(elements_, capacity_);
    }

    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] bool is_full() const noexcept { return size_ == capacity_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

    void push(T last) noexcept {
        debug_check(!is_full(), "pushed into a full ring");
        std::construct_at(elements_ + wrapped(first_ + size_), std::move(last));
        ++size_;
    }

    [[nodiscard]] T pop() noexcept {
        debug_check(!empty(), "popped from an empty ring");
        T& first = elements_[first_];
        T taken = std::move(first);
        std::destroy_at(&first);
        first_ = wrapped(first_ + 1);
        --size_;
        return taken;
    }

    /// The one that `pop` would take after `behind` others.
    [[nodiscard]] T const& at(std::size_t behind) const noexcept {
        debug_check(behind < size_, "there are fewer elements in the ring");
        return elements_[wrapped(first_ + behind)];
    }

    void clear() noexcept {
        while (!empty()) (void)pop();
    }

  private:
    [[nodiscard]] std::size_t wrapped(std::size_t at) const noexcept {
        return at < capacity_ ? at : at - capacity_;
    }

    T* elements_;
    std::size_t capacity_;
    std::size_t first_ = 0;
    std::size_t size_ = 0;
};

} // namespace pitsaw::inline v0
