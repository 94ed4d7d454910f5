#pragma once
#include <concepts>
#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>

namespace pitsaw::inline v0 {

namespace detail {

/// Whether a value of T, or what it is known to hold or to point to, belongs to the worker that made it.
template <class T> inline constexpr bool is_bound_to_worker = requires { typename T::bound_to_worker; };
template <class T> inline constexpr bool is_bound_to_worker<T const> = is_bound_to_worker<T>;
template <class T> inline constexpr bool is_bound_to_worker<T&> = is_bound_to_worker<T>;
template <class T> inline constexpr bool is_bound_to_worker<T&&> = is_bound_to_worker<T>;
template <class T> inline constexpr bool is_bound_to_worker<T*> = is_bound_to_worker<T>;
template <class T, std::size_t Size>
inline constexpr bool is_bound_to_worker<T[Size]> = is_bound_to_worker<T>;
template <template <class, std::size_t> class Of, class T, std::size_t Size>
inline constexpr bool is_bound_to_worker<Of<T, Size>> = // a span, a vector with room for some
    requires { typename Of<T, Size>::bound_to_worker; } || is_bound_to_worker<T>;
// Containers, smart pointers, tuples, optional, expected, and templates of the user's: what they are made of.
template <template <class...> class Of, class... Parts>
inline constexpr bool is_bound_to_worker<Of<Parts...>> =
    requires { typename Of<Parts...>::bound_to_worker; } || (false || ... || is_bound_to_worker<Parts>);

} // namespace detail

/// What may be given to a task that runs on another worker: everything that has no word against it.
///
/// ```cpp
/// class per_worker_cache {
///   public:
///     using bound_to_worker = void; // not transferable, nor is what holds or points to one
/// };
/// static_assert(!ps::transferable<std::vector<per_worker_cache*>>);
/// ```
/// Of pitsaw's types those say so that belong to a worker: streams and listeners, whose descriptor its
/// driver has, leases and pools, task groups, intervals, clients. A class that holds one as a member has to
/// say so itself. What a lambda captures cannot be seen, see `transferable_call`.
template <class T>
concept transferable = !detail::is_bound_to_worker<T>;

/// A callable that may go to another worker: `transferable`, and a copy of it could be made.
///
/// No language tells what a lambda captures. But what belongs to a worker, as leases, streams, pools and
/// groups do, cannot be copied, so a lambda that owns one cannot be either, and is refused; so is one that
/// owns a unique_ptr, which may be well. Give what it owns as an argument: there it is looked at. What a
/// lambda refers to is its scope's, which waits for it.
template <class F>
concept transferable_call =
    transferable<F> && (std::copy_constructible<F> || requires { typename F::assumed_transferable; });

/// A callable whose author has looked at what it owns: nothing of it is bound to a worker.
///
/// ```cpp
/// group.spawn_anywhere(ps::assume_transferable([owned = std::move(index)] { return sort(*owned); }));
/// ```
/// Lifetime, threads, errors: the callable's.
template <class F> class assume_transferable {
  public:
    using assumed_transferable = void;

    explicit assume_transferable(F callable) noexcept(std::is_nothrow_move_constructible_v<F>)
        : callable_(std::move(callable)) {}

    template <class... Args>
        requires std::invocable<F&, Args...>
    decltype(auto) operator()(Args&&... args) {
        return std::invoke(callable_, std::forward<Args>(args)...);
    }

  private:
    F callable_;
};

/// What is bound to a worker and can move to another one all the same, as an argument of the call that goes
/// there: it departs where the call is made and arrives where the call is begun.
///
/// `T::in_transit` is made of a T on the worker that it leaves, and its `arrive()` gives a T on the worker
/// that it has come to, by reference, or throws. One that never arrives ends what it carries.
template <class T>
concept departing = requires { typename T::in_transit; };

} // namespace pitsaw::inline v0
