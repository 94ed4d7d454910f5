#pragma once
#include <pitsaw/base/exception_from.hpp>
#include <pitsaw/base/intrusive_list.hpp>
#include <pitsaw/task/frame_memory.hpp>
#include <pitsaw/task/promise_header.hpp>
#include <pitsaw/task/result_slot.hpp>
#include <pitsaw/task/task.hpp>

#include <coroutine>
#include <exception>
#include <expected>
#include <memory_resource>
#include <new>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>

namespace pitsaw::inline v0 {

class task_group;

/// A result's failure, if it is one: an exception, or the error of an expected.
struct child_failure {
    std::exception_ptr exception;
    std::error_code error;

    [[nodiscard]] bool is_one() const noexcept { return exception != nullptr || error; }
};

template <class T> [[nodiscard]] child_failure failure_of(result_slot<T>& result) noexcept {
    if (!result.is_failure()) return {};
    if (result.has_exception()) return {result.exception(), {}};
    if constexpr (is_expected<T>) {
        using error_type = typename T::error_type;
        if constexpr (std::is_convertible_v<error_type, std::error_code>)
            if (std::error_code const error = result.value().error()) return {nullptr, error};
        // Another type, or a code that says "no error" although it stands for one.
        auto const as_exception = [&result] {
            return std::bad_expected_access<error_type>(result.value().error());
        };
        return {exception_from(as_exception), {}};
    }
    return {};
}

/// Memory for a node of a scope: from the environment's resource, else from the frame recycler.
[[nodiscard]] inline void* allocate_node(std::pmr::memory_resource* const from, std::size_t const size) {
    return from != nullptr ? from->allocate(size) : allocate_frame(size);
}
inline void free_node(std::pmr::memory_resource* const from, void* const node,
                      std::size_t const size) noexcept {
    if (from != nullptr)
        from->deallocate(node, size);
    else
        free_frame(node, size);
}

/// A child of a task group: its boundary, its place among its siblings, and what it owns.
///
/// Lifetime: from `spawn` to the child's end. Threads: the worker's.
struct group_child : boundary, intrusive_list_node {
    group_child(on_child_ended ended, task_group& of) noexcept : boundary(ended), group(&of) {}

    task_group* group;

  protected:
    static void note_ended(group_child& node, ending how) noexcept;
    [[gnu::cold]] static void note_failed(group_child& node, child_failure failure) noexcept;
    [[nodiscard]] static std::coroutine_handle<> leave(task_group& of) noexcept;
};

/// A child whose result is a T, made by an `Owned` that the group keeps until the child has ended.
template <class T, class... Owned> class group_node final : group_child {
  public:
    /// Errors: std::bad_alloc, or what the copies and `make(owned...)` throw; nothing is left behind.
    template <class Make, class... From>
    [[nodiscard]] static group_node& create(task_group& of, std::pmr::memory_resource* const memory,
                                            Make&& make, From&&... from) {
        static_assert(alignof(group_node) <= alignof(std::max_align_t),
                      "an over-aligned callable cannot be spawned");
        void* const where = allocate_node(memory, sizeof(group_node));
        try {
            return *::new (where) group_node(of, make, std::forward<From>(from)...);
        } catch (...) {
            free_node(memory, where, sizeof(group_node));
            throw;
        }
    }

    [[nodiscard]] group_child& child() noexcept { return *this; }
    [[nodiscard]] promise_header& header() noexcept { return work_.startable().promise(); }

  private:
    template <class Make, class... From>
    group_node(task_group& of, Make& make, From&&... from)
        : group_child(ended, of), owned_(std::forward<From>(from)...), work_(std::apply(make, owned_)) {}

    static std::coroutine_handle<> ended(boundary& edge, promise_header& root, ending const how) noexcept {
        auto& node = static_cast<group_node&>(edge);
        auto& of = *node.group;
        auto& result = static_cast<task_promise<T>&>(root).result;
        if (result.is_failure()) [[unlikely]]
            note_failed(node, failure_of(result));
        note_ended(node, how);
        auto* const memory = root.env->memory; // the group's, which the node came from
        node.~group_node();                    // the frame too: a stopped child's locals go at once
        free_node(memory, &node, sizeof(group_node));
        return leave(of);
    }

    [[no_unique_address]] std::tuple<Owned...> owned_;
    task<T> work_;
};

} // namespace pitsaw::inline v0
