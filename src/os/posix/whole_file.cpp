#include "os/posix/whole_file.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

namespace pitsaw::inline v0::posix {

auto write_whole_file(char const* const path, std::span<std::byte const> bytes) noexcept -> int {
    auto const fd = ::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) return -errno;
    while (!bytes.empty()) {
        auto const count = ::write(fd, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) {
            auto const result = count < 0 ? -errno : -EIO;
            ::close(fd);
            return result;
        }
        bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
    return ::close(fd) == 0 ? 0 : -errno;
}

auto process_id() noexcept -> long { return ::getpid(); }

} // namespace pitsaw::inline v0::posix
