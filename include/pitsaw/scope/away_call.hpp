#pragma once
#include <pitsaw/base/transferable.hpp>
#include <pitsaw/scope/away_chain.hpp>
#include <pitsaw/task/task.hpp>

#include <concepts>
#include <exception>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace pitsaw::inline v0 {

/// A callable that can be sent to another worker with its arguments, and gives a task there.
template <class F, class... Args>
concept task_call = std::invocable<F&, Args...> && is_task<std::invoke_result_t<F&, Args...>>;

/// A callable and its arguments that go to another worker, are called there, and end there with the task that
/// they give. What becomes of the result is for `keep` to say.
///
/// Lifetime, threads, errors, stopping: as `away_chain`.
template <class F, class... Args> class away_call : public away_chain {
    static_assert((transferable<F> && ... && (transferable<Args> || departing<Args>)),
                  "what goes to another worker is not bound to this one: see pitsaw::transferable");
    static_assert(transferable_call<F>,
                  "this callable owns what cannot be copied, which may be bound to this worker: give that as "
                  "an argument, or say pitsaw::assume_transferable(callable)");

  public:
    using value_type = typename std::invoke_result_t<F&, Args...>::value_type;

  protected:
    template <class... From>
    explicit away_call(std::in_place_t, From&&... from)
        : owned_(std::in_place, std::forward<From>(from)...) {}
    ~away_call() = default;

    /// There: takes what home needs of a result.
    virtual void keep(result_slot<value_type>& result) noexcept = 0;

  private:
    [[nodiscard]] promise_header* make() noexcept final {
        try {
            constexpr auto call = [](F& callable, auto&... owned) { return callable(arrived(owned)...); };
            work_ = std::apply(call, *owned_);
            return &work_.startable().promise();
        } catch (...) {
            result_slot<value_type> failed;
            failed.set_exception(std::current_exception());
            keep(failed);
            return nullptr;
        }
    }

    void clear(promise_header* const root) noexcept final {
        if (root != nullptr) keep(static_cast<task_promise<value_type>*>(root)->result);
        work_ = {}; // the frame too: a stopped chain's locals go where they have lived
        owned_.reset();
    }

    template <class T> struct carried_as {
        using type = T;
    };
    template <departing T> struct carried_as<T> {
        using type = typename T::in_transit;
    };
    template <class T> static decltype(auto) arrived(T& carried) {
        if constexpr (requires { carried.arrive(); })
            return std::move(carried.arrive());
        else
            return std::move(carried);
    }

    /// Before the frame, which refers to it.
    std::optional<std::tuple<F, typename carried_as<Args>::type...>> owned_;
    task<value_type> work_;
};

} // namespace pitsaw::inline v0
