#include "os/posix/whole_file.hpp"

#include "os/posix/process_number.hpp"

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

namespace pitsaw::inline v0::posix {
namespace {

constexpr int names_max = 100; // that others may have left behind, or are at

/// A rename would put a file in the place of a device.
auto may_be_replaced(char const* const path) noexcept -> int {
    struct stat there{};
    if (::lstat(path, &there) != 0) return errno == ENOENT ? 0 : -errno;
    if (S_ISREG(there.st_mode)) return 0;
    if (S_ISDIR(there.st_mode)) return -EISDIR;
    return S_ISLNK(there.st_mode) ? -ELOOP : -EINVAL;
}

/// A file beside `path` that was not there before; its name is left in `name`.
auto open_new_beside(char const* const path, std::array<char, PATH_MAX>& name) noexcept -> int {
    auto const* const last = std::strrchr(path, '/');
    auto const folder = last == nullptr ? 0 : last + 1 - path;
    if (folder >= PATH_MAX) return -ENAMETOOLONG;
    for (int i = 0; i < names_max; ++i) {
        auto const length = std::snprintf(name.data(), name.size(), "%.*s.pitsaw-%ld-%d",
                                          static_cast<int>(folder), path, process_number(), i);
        if (length < 0 || length >= PATH_MAX) return -ENAMETOOLONG;
        auto const fd = ::open(name.data(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd >= 0) return fd;
        if (errno != EEXIST) return -errno;
    }
    return -EEXIST;
}

auto write_all(int const fd, std::span<std::byte const> bytes) noexcept -> int {
    while (!bytes.empty()) {
        auto const count = ::write(fd, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return count < 0 ? -errno : -EIO;
        bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
    return 0;
}

} // namespace

auto write_whole_file(char const* const path, std::span<std::byte const> const bytes) noexcept -> int {
    if (auto const result = may_be_replaced(path); result != 0) return result;
    std::array<char, PATH_MAX> name;
    auto const fd = open_new_beside(path, name);
    if (fd < 0) return fd;
    auto result = write_all(fd, bytes);
    if (::close(fd) != 0 && result == 0) result = -errno;
    if (result == 0 && ::rename(name.data(), path) != 0) result = -errno;
    if (result != 0) ::unlink(name.data());
    return result;
}

} // namespace pitsaw::inline v0::posix
