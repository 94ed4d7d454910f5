#include <pitsaw/base/check.hpp>

#include <cstdio>
#include <cstdlib>

namespace pitsaw::inline v0 {

void check_failed(char const* what, std::source_location where) noexcept {
    std::fprintf(stderr, "%s:%u: %s\n    in %s\n", where.file_name(), static_cast<unsigned>(where.line()),
                 what, where.function_name());
    detail::print_async_stack_of_this_thread();
    detail::print_record_of_this_thread();
    std::abort();
}

} // namespace pitsaw::inline v0
