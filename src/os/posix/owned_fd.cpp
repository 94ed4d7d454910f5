#include "os/posix/owned_fd.hpp"

#include <unistd.h>

namespace pitsaw::inline v0 {

owned_fd::~owned_fd() {
    if (fd_ >= 0) ::close(fd_);
}

} // namespace pitsaw::inline v0
