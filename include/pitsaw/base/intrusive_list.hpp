#pragma once
#include <pitsaw/base/check.hpp>

#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>

namespace pitsaw::inline v0 {

/// The links that make a type an element of an `intrusive_list`; derive from it publicly.
///
/// Lifetime: immovable, since its neighbours point to it. Destroying it while it stands in a list is a
/// programmer error, found by a debug check. 16 bytes.
class intrusive_list_node {
  public:
    intrusive_list_node(intrusive_list_node&&) = delete;

    [[nodiscard]] auto is_linked() const noexcept -> bool { return next_ != nullptr; }

  protected:
    constexpr intrusive_list_node() noexcept = default;
    ~intrusive_list_node() {
        debug_check(!is_linked(), "destroyed while it stands in a list: take it out first");
    }

  private:
    template <class, class> friend class intrusive_list;

    intrusive_list_node* previous_ = nullptr; // list owner only, as next_; both null outside of a list
    intrusive_list_node* next_ = nullptr;
};
static_assert(sizeof(intrusive_list_node) == 2 * sizeof(void*));

/// A doubly linked list of elements that somebody else owns: every operation is O(1) and none allocates.
///
///     struct waiter : intrusive_list_node { int permits = 0; };
///     intrusive_list<waiter> queue;
///     waiter first, second;
///     queue.push_back(first);
///     queue.push_back(second);
///     intrusive_list<waiter>::unlink(first);   // gives up, and need not know its queue
///     assert(&queue.front() == &second);
///
/// A type that stands in two lists at a time derives from two classes that derive from the node, and names
/// the one that is meant: `intrusive_list<task, in_group>`.
///
/// Lifetime: an element leaves before it is destroyed, the list is empty when it is destroyed (debug checks).
/// Immovable. Threads: one at a time. Errors: none. 16 bytes; there is no size, for an element can leave
/// without the list's knowledge.
template <class T, class Node = intrusive_list_node> class intrusive_list : private intrusive_list_node {
  public:
    class iterator;

    intrusive_list() noexcept { previous_ = next_ = this; }
    ~intrusive_list() {
        debug_check(empty(), "a list is destroyed with elements in it: take them out first");
        previous_ = next_ = nullptr;
    }

    [[nodiscard]] auto empty() const noexcept -> bool { return next_ == this; }

    /// The list is not empty.
    [[nodiscard]] auto front() const noexcept -> T& { return element(*next_); }
    [[nodiscard]] auto back() const noexcept -> T& { return element(*previous_); }

    void push_back(T& added) noexcept { insert_before(*this, node(added)); }
    void push_front(T& added) noexcept { insert_before(*next_, node(added)); }

    /// The first element, taken out; null when there is none.
    [[nodiscard]] auto pop_front() noexcept -> T* {
        if (empty()) return nullptr;
        auto& first = front();
        unlink(first);
        return &first;
    }

    /// Takes a linked element out of whichever list it stands in. Returns that list if this emptied it, else
    /// null.
    static auto unlink(T& leaving) noexcept -> intrusive_list* {
        intrusive_list_node& left = node(leaving);
        debug_check(left.is_linked(), "taken out of a list in which it does not stand");
        auto* const before = left.previous_;
        auto* const after = left.next_;
        before->next_ = after;
        after->previous_ = before;
        left.previous_ = left.next_ = nullptr;
        // Only the list itself can be both neighbours.
        return before == after ? static_cast<intrusive_list*>(before) : nullptr;
    }

    /// Appends all of `other` in its order and leaves it empty.
    void splice_back(intrusive_list& other) noexcept {
        if (other.empty()) return;
        previous_->next_ = other.next_;
        other.next_->previous_ = previous_;
        other.previous_->next_ = this;
        previous_ = other.previous_;
        other.previous_ = other.next_ = &other;
    }

    /// Iterators stay valid until their element leaves.
    [[nodiscard]] auto begin() const noexcept -> iterator { return iterator(next_); }
    [[nodiscard]] auto end() const noexcept -> iterator {
        return iterator(const_cast<intrusive_list_node*>(static_cast<intrusive_list_node const*>(this)));
    }

  private:
    static auto node(T& of) noexcept -> intrusive_list_node& {
        static_assert(std::is_base_of_v<intrusive_list_node, Node> && std::is_base_of_v<Node, T>);
        return static_cast<Node&>(of);
    }
    static auto element(intrusive_list_node& of) noexcept -> T& {
        return static_cast<T&>(static_cast<Node&>(of));
    }
    static void insert_before(intrusive_list_node& place, intrusive_list_node& added) noexcept {
        debug_check(!added.is_linked(), "an element stands in one list at a time: take it out first");
        added.previous_ = place.previous_;
        added.next_ = &place;
        place.previous_->next_ = &added;
        place.previous_ = &added;
    }
};

template <class T, class Node> class intrusive_list<T, Node>::iterator {
  public:
    using iterator_category = std::bidirectional_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = T*;
    using reference = T&;

    iterator() noexcept = default;
    auto operator*() const noexcept -> T& { return element(*at_); }
    auto operator->() const noexcept -> T* { return &element(*at_); }
    auto operator++() noexcept -> iterator& { return at_ = at_->next_, *this; }
    auto operator++(int) noexcept -> iterator { return std::exchange(*this, std::next(*this)); }
    auto operator--() noexcept -> iterator& { return at_ = at_->previous_, *this; }
    auto operator--(int) noexcept -> iterator { return std::exchange(*this, std::prev(*this)); }
    friend auto operator==(iterator, iterator) noexcept -> bool = default;

  private:
    friend class intrusive_list;
    explicit iterator(intrusive_list_node* at) noexcept : at_(at) {}

    intrusive_list_node* at_ = nullptr;
};

} // namespace pitsaw::inline v0
