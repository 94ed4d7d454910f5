#pragma once
#include <pitsaw/model/access.hpp>

#include <source_location>
#include <type_traits>
#include <utility>

namespace pitsaw::inline v0::model {

/// A plain variable that several threads use: two accesses, one of them a write, of which neither happens
/// before the other are a data race, and reported; whichever order they came in.
///
/// ```cpp
/// model::var<int> data = 0;
/// data = 42;                    // a write
/// int const seen = data;        // a read
/// ```
/// Lifetime: as `atomic`. Threads: those of the model; it is no point where another goes first, for without a
/// race the order cannot be told. Errors: none of its own. As large as T, of which it is copied and assigned
/// as its value is.
template <class T> class var {
    using location = std::source_location;

  public:
    using value_type = T;

    constexpr var() : var(T()) {}
    constexpr var(T initial) : value_(std::move(initial)) {
        if (!std::is_constant_evaluated() && detail::is_exploring()) detail::made(place({}));
    }
    constexpr var(var const& other) : var(other.read({})) {}
    constexpr ~var() {
        if (!std::is_constant_evaluated() && detail::is_exploring()) detail::gone(this);
    }

    [[nodiscard]] constexpr auto read(location where = location::current()) const -> T const& {
        if (!std::is_constant_evaluated() && detail::is_exploring()) detail::read_variable(place(where));
        return value_;
    }
    constexpr void write(T value, location where = location::current()) {
        if (!std::is_constant_evaluated() && detail::is_exploring()) detail::write_variable(place(where));
        value_ = std::move(value);
    }

    // From here on nobody knows the line; the steps around it in the trace do.
    constexpr operator T const&() const { return read({}); }
    constexpr auto operator->() const -> T const& { return read({}); }
    constexpr auto operator=(T value) -> var& {
        write(std::move(value), {});
        return *this;
    }
    constexpr auto operator=(var const& other) -> var& {
        write(other.read({}), {});
        return *this;
    }
    constexpr auto operator|=(T const& operand) -> var& {
        write(read({}) | operand, {});
        return *this;
    }
    constexpr auto operator+=(T const& operand) -> var& {
        write(read({}) + operand, {});
        return *this;
    }
    constexpr auto operator++() -> var& {
        auto next = read({});
        write(++next, {});
        return *this;
    }

  private:
    [[nodiscard]] auto place(location where) const noexcept -> detail::place {
        return {this, &detail::variable_traits, 0, where};
    }

    T value_;
};

} // namespace pitsaw::inline v0::model
