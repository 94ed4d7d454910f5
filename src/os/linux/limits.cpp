#include "os/linux/limits.hpp"

#include <sys/resource.h>
#include <sys/utsname.h>

#include <fstream>
#include <string_view>

namespace pitsaw::inline v0 {

auto limit_text(limit which) -> std::string {
    rlimit now = {};
    if (::getrlimit(which == limit::nofile ? RLIMIT_NOFILE : RLIMIT_MEMLOCK, &now) < 0) return "unknown";
    if (now.rlim_cur == RLIM_INFINITY) return "unlimited";
    if (which == limit::nofile) return std::to_string(now.rlim_cur);
    return std::to_string(now.rlim_cur / 1024) + " KiB";
}

auto process_status(char const* field) -> std::string {
    std::ifstream status("/proc/self/status");
    auto const wanted = std::string(field) + ":";
    for (std::string line; std::getline(status, line);)
        if (line.starts_with(wanted)) {
            auto const from = line.find_first_not_of(" \t", wanted.size());
            return from == std::string::npos ? "" : line.substr(from);
        }
    return {};
}

auto first_line(char const* path) -> std::string {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

auto kernel_release() -> std::string {
    utsname names = {};
    if (::uname(&names) < 0) return "unknown";
    return std::string(names.sysname) + " " + names.release;
}

} // namespace pitsaw::inline v0
