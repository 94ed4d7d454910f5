#pragma once
#include <array>
#include <concepts>
#include <cstddef>
#include <type_traits>

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
template <class T, std::size_t Size>
inline constexpr bool is_bound_to_worker<std::array<T, Size>> = is_bound_to_worker<T>;
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
/// say so itself, and what a lambda captures cannot be seen: give it as an argument, and it is looked at.
template <class T>
concept transferable = !detail::is_bound_to_worker<T>;

/// What is bound to a worker and can move to another one all the same, as an argument of the call that goes
/// there: it departs where the call is made and arrives where the call is begun.
///
/// `T::in_transit` is made of a T on the worker that it leaves, and its `arrive()` gives a T on the worker
/// that it has come to, by reference, or throws. One that never arrives ends what it carries.
template <class T>
concept departing = requires { typename T::in_transit; };

} // namespace pitsaw::inline v0
