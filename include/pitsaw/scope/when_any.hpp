#pragma once
#include <pitsaw/scope/fan_scope.hpp>
#include <pitsaw/task/child.hpp>

#include <array>
#include <coroutine>
#include <cstddef>
#include <functional>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace pitsaw::inline v0 {

/// What a branch contributes: its value, `void` as std::monostate, a reference as std::reference_wrapper.
template <class T>
using when_any_element =
    std::conditional_t<std::is_reference_v<T>, std::reference_wrapper<std::remove_reference_t<T>>,
                       void_as_monostate<T>>;

/// What each branch of a `when_any` completed with, if it did; `std::get` reaches them.
template <class... T> class when_any_result : public std::tuple<std::optional<when_any_element<T>>...> {
  public:
    using optionals = std::tuple<std::optional<when_any_element<T>>...>;

    when_any_result(std::size_t first, optionals&& branches)
        : optionals(std::move(branches)), first_(first) {}

    /// The index of the branch that completed first.
    [[nodiscard]] std::size_t first() const noexcept { return first_; }

  private:
    std::size_t first_;
};

template <class... A> class [[nodiscard]] when_any_awaiter : fan_scope {
    using indices = std::index_sequence_for<A...>;
    using result_type = when_any_result<child_value<A>...>;

  public:
    explicit when_any_awaiter(A&... awaited) : when_any_awaiter(indices(), awaited...) {}

    [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept {
        begin(header, branches_);
        start_all(indices(), header);
        return all_started();
    }

    result_type await_resume() {
        return [&]<std::size_t... I>(std::index_sequence<I...>) {
            (report_loser<I>(), ...);
            (rethrow_if_first<I>(), ...);
            return result_type(decided_by(), typename result_type::optionals(take<I>()...));
        }(indices());
    }

  private:
    template <std::size_t... I>
    when_any_awaiter(std::index_sequence<I...>, A&... awaited)
        : branches_{fan_branch(ended<I>)...}, children_(awaited...) {}

    template <std::size_t I>
    static std::coroutine_handle<> ended(boundary& edge, promise_header&, ending const how) noexcept {
        auto& branch = static_cast<fan_branch&>(edge);
        auto& self = static_cast<when_any_awaiter&>(*branch.owner);
        if (how == ending::value) self.template child_at<I>().collect();
        return self.branch_ended(branch, how, how != ending::stopped, stop_reason::sibling_won);
    }

    template <std::size_t... I> void start_all(std::index_sequence<I...>, promise_header& header) noexcept {
        (child_at<I>().start_queued(branches_[I], env, header), ...);
    }

    template <std::size_t I> void rethrow_if_first() {
        auto& result = child_at<I>().result();
        if (I == decided_by() && result.has_exception()) std::rethrow_exception(result.exception());
    }

    template <std::size_t I> void report_loser() noexcept {
        auto& result = child_at<I>().result();
        if (I != decided_by() && result.has_exception()) on().lost_error(result.exception());
    }

    template <std::size_t I> auto take() {
        using element = std::tuple_element_t<I, typename result_type::optionals>;
        auto& result = child_at<I>().result();
        if (!result.has_value()) return element();
        if constexpr (std::is_pointer_v<std::remove_reference_t<decltype(result.value())>> &&
                      !std::is_pointer_v<typename element::value_type>)
            return element(*result.value()); // a reference
        else
            return element(std::move(result.value()));
    }

    template <std::size_t I> [[nodiscard]] auto& child_at() noexcept { return std::get<I>(children_); }

    std::array<fan_branch, sizeof...(A)> branches_;
    std::tuple<child<A>...> children_;
};

/// Awaits several things until one completes, stops the others, and gives what each has completed: the
/// losers' results too.
///
/// ```cpp
/// auto first = co_await ps::when_any(mailbox.receive(), ps::sleep(1s));
/// if (auto& message = std::get<0>(first)) handle(*message);
/// ```
/// Lifetime: the branches live in the same full-expression; a leaf needs no frame. It returns after the last
/// branch has ended. Errors: if the first to complete threw, that is rethrown, and what others had completed
/// is destroyed; a loser's exception goes to `on_lost_error`; `as_outcome` around a branch keeps both. An
/// `io_result` with an error is a completed branch. Stopping: a boundary: it delivers what completed, also
/// under an outer stop; if nothing did, it stops.
template <awaitable... A>
    requires(sizeof...(A) > 0)
[[nodiscard]] auto when_any(A&&... awaited [[clang::lifetimebound]]) {
    return when_any_awaiter<std::remove_cvref_t<A>...>(awaited...);
}

} // namespace pitsaw::inline v0
