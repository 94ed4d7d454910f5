#include "os/linux/limits.hpp"

#include <sys/resource.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cstdio>
#include <string_view>

namespace pitsaw::inline v0 {
namespace {

/// Shows the lines of a file to `wants`, until it has had enough.
template <class Wants> void each_line(char const* path, Wants wants) {
    auto* const file = std::fopen(path, "re");
    if (file == nullptr) return;
    char line[512];
    while (std::fgets(line, sizeof line, file) != nullptr) {
        auto const text = std::string_view(line);
        if (!wants(text.substr(0, text.find('\n')))) break;
    }
    std::fclose(file);
}

} // namespace

auto limit_text(limit which) -> std::string {
    rlimit now = {};
    if (::getrlimit(which == limit::nofile ? RLIMIT_NOFILE : RLIMIT_MEMLOCK, &now) < 0) return "unknown";
    if (now.rlim_cur == RLIM_INFINITY) return "unlimited";
    if (which == limit::nofile) return std::to_string(now.rlim_cur);
    return std::to_string(now.rlim_cur / 1024) + " KiB";
}

auto process_status(char const* field) -> std::string {
    auto const wanted = std::string(field) + ":";
    std::string found;
    each_line("/proc/self/status", [&](std::string_view line) {
        auto const is_it = line.starts_with(wanted);
        if (is_it) found = line.substr(std::min(line.find_first_not_of(" \t", wanted.size()), line.size()));
        return !is_it;
    });
    return found;
}

auto first_line(char const* path) -> std::string {
    std::string found;
    each_line(path, [&](std::string_view line) {
        found = line;
        return false;
    });
    return found;
}

auto kernel_release() -> std::string {
    utsname names = {};
    if (::uname(&names) < 0) return "unknown";
    return std::string(names.sysname) + " " + names.release;
}

} // namespace pitsaw::inline v0
