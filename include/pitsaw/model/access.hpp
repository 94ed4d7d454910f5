#pragma once
#include <atomic>
#include <cstdint>
#include <cstring>
#include <source_location>
#include <type_traits>

/// What the typed shells of pitsaw::model stand on: the one place where an access enters the checker.
namespace pitsaw::inline v0::model::detail {

/// A value as the checker keeps it: its bytes, the rest zero.
using word = std::uint64_t;

enum class object_kind : std::uint8_t { atomic, variable, mutex, condition };

/// How an object is kept and printed.
struct object_traits {
    object_kind kind;
    std::uint8_t size;
    bool is_signed;
    bool is_pointer;
};

template <class T>
concept modelled_value = std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(word);

template <class T> [[nodiscard]] auto to_word(T const& value) noexcept -> word {
    word bytes = 0;
    std::memcpy(&bytes, &value, sizeof value);
    return bytes;
}
template <class T> [[nodiscard]] auto from_word(word bytes) noexcept -> T {
    static_assert(std::is_trivially_copyable_v<T>);
    alignas(T) std::byte storage[sizeof(T)];
    std::memcpy(storage, &bytes, sizeof(T));
    return *reinterpret_cast<T*>(storage);
}

template <class T>
inline constexpr object_traits atomic_traits{object_kind::atomic, sizeof(T), std::is_signed_v<T>,
                                             std::is_pointer_v<T>};
inline constexpr object_traits variable_traits{object_kind::variable, 0, false, false};
inline constexpr object_traits mutex_traits{object_kind::mutex, 0, false, false};
inline constexpr object_traits condition_traits{object_kind::condition, 0, false, false};

/// An access: to which object, made how, with which value if it is first seen now, from which line.
struct place {
    void const* at;
    object_traits const* traits;
    word initial;
    std::source_location where;
};

/// False outside of `explore`: then nothing below may be called, and the shells act on their own value.
[[nodiscard]] auto is_exploring() noexcept -> bool;

void made(place const& object) noexcept;
void gone(void const* at) noexcept;

[[nodiscard]] auto load(place const& from, std::memory_order order) noexcept -> word;
void store(place const& to, word value, std::memory_order order) noexcept;
/// Puts `change(old, operand)` in the place of `old` and returns `old`.
[[nodiscard]] auto modify(place const& at, word (*change)(word, word), word operand,
                          std::memory_order order) noexcept -> word;
struct exchange_orders {
    std::memory_order success, failure;
    bool is_weak;
};
[[nodiscard]] auto compare_exchange(place const& at, word& expected, word desired,
                                    exchange_orders orders) noexcept -> bool;
void wait(place const& at, word old, std::memory_order order) noexcept;
void notify(place const& at, bool all) noexcept;
void fence(std::memory_order order, std::source_location where) noexcept;

void read_variable(place const& from) noexcept;
void write_variable(place const& to) noexcept;

void lock(place const& at) noexcept;
[[nodiscard]] auto try_lock(place const& at) noexcept -> bool;
void unlock(place const& at) noexcept;
void await_condition(place const& at, place const& mutex) noexcept;

} // namespace pitsaw::inline v0::model::detail
