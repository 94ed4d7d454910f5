#include <pitsaw/base/check.hpp>

namespace pitsaw::inline v0::detail {

void print_async_stack_of_this_thread() noexcept {}

} // namespace pitsaw::inline v0::detail
