#pragma once
#include <pitsaw/io/operation.hpp>

#include <new>

namespace pitsaw::inline v0 {

/// Operations in flight, in order (law 13): 8 bytes, for each open descriptor has some of them and mostly
/// nobody waits.
///
/// Linked by `next` and by the first 8 bytes of `scratch`, which a driver's own record therefore begins with.
/// The last's `next` is null; the first's `before` is the last, so that one pointer finds both ends.
class operation_line {
  public:
    [[nodiscard]] auto first() const noexcept -> operation* { return first_; }
    [[nodiscard]] auto empty() const noexcept -> bool { return first_ == nullptr; }

    void push_back(operation& op) noexcept {
        link(op, nullptr);
        if (first_ == nullptr) {
            first_ = &op;
        } else {
            before(op)->next = &op;
            before(*first_) = &op;
        }
    }
    void push_front(operation& op) noexcept {
        link(op, first_);
        if (first_ != nullptr) before(*first_) = &op;
        first_ = &op;
    }
    void remove(operation& op) noexcept {
        if (first_ == &op)
            first_ = op.next;
        else
            before(op)->next = op.next;
        if (op.next != nullptr)
            before(*op.next) = before(op);
        else if (first_ != nullptr)
            before(*first_) = before(op);
        op.next = nullptr;
    }

  private:
    static auto before(operation& op) noexcept -> operation*& {
        return *std::launder(reinterpret_cast<operation**>(op.scratch));
    }
    /// To the last, or to itself.
    void link(operation& op, operation* next) noexcept {
        op.next = next;
        before(op) = first_ == nullptr ? &op : before(*first_);
    }

    operation* first_ = nullptr;
};
static_assert(sizeof(operation_line) == 8);

} // namespace pitsaw::inline v0
