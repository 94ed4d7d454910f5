#pragma once
#include <pitsaw/scope/stop_scope.hpp>
#include <pitsaw/task/promise_header.hpp>

#include <coroutine>
#include <cstdint>
#include <span>

namespace pitsaw::inline v0 {

class fan_scope;

/// One branch of a fan: its boundary and how it ended.
struct fan_branch : boundary {
    using boundary::boundary;

    fan_scope* owner = nullptr; ///< set at the start
};

/// What `when_all` and `when_any` share: a fixed number of branches, one counter, the first that decides.
///
/// Lifetime: in the awaiter. Threads: the worker's.
class fan_scope : public stop_scope {
  public:
    static constexpr std::uint32_t nobody = UINT32_MAX;

    fan_scope() noexcept : stop_scope(asked) {}

    /// Opens the scope; the branches are started next, then `all_started`.
    void begin(promise_header& header, std::span<fan_branch> branches) noexcept;

    /// Returns what runs next; for a fan without branches that is the outer coroutine.
    [[nodiscard]] std::coroutine_handle<> all_started() noexcept { return leave(); }

    /// A branch has ended. `decides`: it stops the others, with `why`.
    [[nodiscard]] std::coroutine_handle<> branch_ended(fan_branch& branch, ending how, bool decides,
                                                       stop_reason why) noexcept;

    /// The first branch that decided, or nobody.
    [[nodiscard]] std::uint32_t decided_by() const noexcept { return decided_by_; }

  protected:
    bool delivers_undecided_ = false; ///< `when_all`: every branch completed and none decided

  private:
    static void asked(waiter& self) noexcept;

    void stop_branches(stop_reason why) noexcept;
    [[nodiscard]] std::coroutine_handle<> leave() noexcept;

    std::span<fan_branch> branches_; ///< the awaiter's, set at the start
    std::uint32_t pending_ = 0;      ///< branches that have not ended, and one while they are being started
    std::uint32_t decided_by_ = nobody;
    bool any_stopped_ = false;
};

} // namespace pitsaw::inline v0
