#pragma once
#include <pitsaw/scope/away_call.hpp>
#include <pitsaw/scope/group_child.hpp>

#include <coroutine>
#include <cstddef>
#include <memory_resource>
#include <new>
#include <utility>

namespace pitsaw::inline v0 {

/// A child of a task group that runs on another worker, or anywhere. Of its result only a failure comes home.
///
/// Lifetime: from its spawn to its return. Threads: as `away_chain`.
template <class F, class... Args> class away_child final : public group_child, away_call<F, Args...> {
    using call = away_call<F, Args...>;

  public:
    /// Errors: std::bad_alloc, or what the moves throw; nothing is left behind.
    [[nodiscard]] static away_child& create(task_group& of, std::pmr::memory_resource* const memory, F&& work,
                                            Args&&... args) {
        static_assert(alignof(away_child) <= alignof(std::max_align_t),
                      "an over-aligned callable cannot be spawned");
        void* const where = allocate_node(memory, sizeof(away_child));
        try {
            return *::new (where) away_child(of, memory, std::move(work), std::move(args)...);
        } catch (...) {
            free_node(memory, where, sizeof(away_child));
            throw;
        }
    }

    /// After the group has taken it in.
    void depart(executor& to, environment const& of, promise_header& by) noexcept {
        waiting = this; // for its whole life: a stop of the group travels after it
        call::depart(to, of, by);
    }
    /// The same, to whichever worker takes it.
    void depart_anywhere(environment const& of, promise_header& by) noexcept {
        waiting = this;
        call::depart_anywhere(of, by);
    }

  private:
    away_child(task_group& of, std::pmr::memory_resource* const memory, F&& work, Args&&... args)
        : group_child(nullptr, of), call(std::in_place, std::move(work), std::move(args)...),
          memory_(memory) {}

    void keep(result_slot<typename call::value_type>& result) noexcept override {
        if (result.is_failure()) failure_ = failure_of(result);
    }

    std::coroutine_handle<> returned(ending const how) noexcept override {
        auto& of = *group;
        auto* const memory = memory_;
        note_failed(*this, std::move(failure_));
        note_ended(*this, how);
        this->~away_child();
        free_node(memory, this, sizeof(away_child));
        return leave(of);
    }

    child_failure failure_; ///< written there
    std::pmr::memory_resource* memory_;
};

} // namespace pitsaw::inline v0
