#include "os/posix/process_number.hpp"

#include <unistd.h>

namespace pitsaw::inline v0::posix {

auto process_number() noexcept -> long { return ::getpid(); }

} // namespace pitsaw::inline v0::posix
