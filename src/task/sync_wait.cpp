#include <pitsaw/task/sync_wait.hpp>

#include <cstdio>
#include <exception>
#include <system_error>

namespace pitsaw::inline v0 {

void print_failure(std::exception_ptr failure) noexcept {
    try {
        std::rethrow_exception(std::move(failure));
    } catch (std::exception const& what) {
        std::fprintf(stderr, "error: %s\n", what.what());
    } catch (...) {
        std::fputs("error: an exception of an unknown type\n", stderr);
    }
}

void print_failure(std::error_code const failure) noexcept {
    try {
        std::fprintf(stderr, "error: %s (%s:%d)\n", failure.message().c_str(), failure.category().name(),
                     failure.value());
    } catch (...) {
        std::fprintf(stderr, "error: %s:%d\n", failure.category().name(), failure.value());
    }
}

} // namespace pitsaw::inline v0
