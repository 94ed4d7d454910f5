#pragma once
#include <exception>

namespace pitsaw::inline v0 {

/// The exception that `make` returns, or the one that kept it from making it: for endings, which must not
/// throw and still say what went wrong.
///
///     lost_error(exception_from([&] { return std::system_error(code, "a child failed"); }));
///
/// Lifetime, Threads: those of std::exception_ptr. Errors: std::bad_alloc comes as the exception.
template <class Make> [[nodiscard]] std::exception_ptr exception_from(Make const& make) noexcept {
    try {
        return std::make_exception_ptr(make());
    } catch (...) {
        return std::current_exception();
    }
}

} // namespace pitsaw::inline v0
