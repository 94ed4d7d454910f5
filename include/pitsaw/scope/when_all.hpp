#pragma once
#include <pitsaw/io/result.hpp>
#include <pitsaw/scope/fan_scope.hpp>
#include <pitsaw/task/child.hpp>

#include <array>
#include <coroutine>
#include <cstddef>
#include <expected>
#include <tuple>
#include <type_traits>
#include <utility>

namespace pitsaw::inline v0 {

/// What a branch contributes: an expected's value, or its value itself; `void` as std::monostate.
template <class T> struct when_all_element {
    using type = void_as_monostate<T>;
};
template <class T, class E> struct when_all_element<std::expected<T, E>> {
    using type = void_as_monostate<T>;
};

template <class... A> class [[nodiscard]] when_all_awaiter : fan_scope {
    using indices = std::index_sequence_for<A...>;
    using values = std::tuple<typename when_all_element<child_value<A>>::type...>;
    static constexpr bool can_fail = (is_expected<child_value<A>> || ...);
    using result_type = std::conditional_t<can_fail, io_result<values>, values>;

  public:
    explicit when_all_awaiter(A&... awaited) : when_all_awaiter(indices(), awaited...) {}

    [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept {
        begin(header, branches_);
        start_all(indices(), header);
        return all_started();
    }

    result_type await_resume() {
        return [&]<std::size_t... I>(std::index_sequence<I...>) -> result_type {
            (report_later_exception<I>(), ...);
            (rethrow_if_first<I>(), ...);
            if constexpr (can_fail)
                if (decided_by() != nobody) return std::unexpected(first_error(std::index_sequence<I...>()));
            return values(take<I>()...);
        }(indices());
    }

  private:
    template <std::size_t... I>
    when_all_awaiter(std::index_sequence<I...>, A&... awaited)
        : branches_{fan_branch(ended<I>)...}, children_(awaited...) {
        delivers_undecided_ = true;
    }

    template <std::size_t I>
    static std::coroutine_handle<> ended(boundary& edge, promise_header&, ending const how) noexcept {
        auto& branch = static_cast<fan_branch&>(edge);
        auto& self = static_cast<when_all_awaiter&>(*branch.owner);
        auto& branch_child = self.template child_at<I>();
        if (how == ending::value) branch_child.collect();
        return self.branch_ended(branch, how, branch_child.result().is_failure(),
                                 stop_reason::sibling_failed);
    }

    template <std::size_t... I> void start_all(std::index_sequence<I...>, promise_header& header) noexcept {
        (child_at<I>().start_queued(branches_[I], env, header), ...);
    }

    template <std::size_t I> void rethrow_if_first() {
        auto& result = child_at<I>().result();
        if (I == decided_by() && result.has_exception()) std::rethrow_exception(result.exception());
    }

    template <std::size_t I> void report_later_exception() noexcept {
        auto& result = child_at<I>().result();
        if (I != decided_by() && result.has_exception()) on().lost_error(result.exception());
    }

    template <std::size_t... I> [[nodiscard]] std::error_code first_error(std::index_sequence<I...>) {
        std::error_code error;
        ((I == decided_by() ? void(error = error_of<I>()) : void()), ...);
        return error;
    }

    template <std::size_t I> [[nodiscard]] std::error_code error_of() {
        if constexpr (is_expected<typename std::tuple_element_t<I, decltype(children_type())>::value_type>)
            return child_at<I>().result().value().error();
        else
            return {};
    }

    template <std::size_t I> decltype(auto) take() {
        using value_type = typename std::tuple_element_t<I, decltype(children_type())>::value_type;
        auto& value = child_at<I>().result().value();
        using stored = std::remove_reference_t<decltype(value)>;
        if constexpr (std::is_reference_v<value_type>)
            return static_cast<value_type>(*value);
        else if constexpr (!is_expected<stored>)
            return std::move(value);
        else if constexpr (std::is_void_v<typename stored::value_type>)
            return std::monostate();
        else
            return std::move(*value);
    }

    static std::tuple<child<A>...> children_type();

    template <std::size_t I> [[nodiscard]] auto& child_at() noexcept { return std::get<I>(children_); }

    std::array<fan_branch, sizeof...(A)> branches_;
    std::tuple<child<A>...> children_;
};

/// Awaits several things together; the first failure stops the others and is the failure you see.
///
/// ```cpp
/// auto loaded = co_await ps::or_return(ps::when_all(load_user(id), load_orders(id)));   // io_result<tuple>
/// auto& [user, orders] = loaded;
/// ```
/// Gives a tuple of the values; if any branch gives an `io_result`, an `io_result` of the tuple of what they
/// hold. Lifetime: the branches live in the same full-expression; it returns after the last has ended.
/// Errors: a failure is an exception, which is rethrown, or an `io_result` with an error. Later exceptions go
/// to `on_lost_error`, later error codes are dropped. Stopping: a boundary: it delivers only when all
/// completed, else it stops, and completed values are destroyed (`as_outcome` around a branch keeps them). A
/// branch that stops though nobody asked stops the others.
template <awaitable... A> [[nodiscard]] auto when_all(A&&... awaited [[clang::lifetimebound]]) {
    return when_all_awaiter<std::remove_cvref_t<A>...>(awaited...);
}

} // namespace pitsaw::inline v0
