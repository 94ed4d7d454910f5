#include "doctor.hpp"

#include "driver/epoll/driver.hpp"
#include "driver/io_uring/driver.hpp"
#include "loop/choose_driver.hpp"
#include "os/linux/limits.hpp"

#include <cstdio>
#include <string>

namespace pitsaw::cli {
namespace {

void line(char const* what, std::string const& value) { std::printf("%-26s %s\n", what, value.c_str()); }

auto or_unknown(std::string text) -> std::string { return text.empty() ? "unknown" : std::move(text); }

/// proc(5), the field Seccomp of status.
auto seccomp_mode() -> std::string {
    auto const mode = process_status("Seccomp");
    if (mode == "0") return "off";
    if (mode == "1") return "strict";
    if (mode == "2") return "filter: it may deny io_uring";
    return or_unknown(mode);
}

/// The kernel's Documentation/admin-guide/sysctl/kernel.rst, io_uring_disabled.
auto io_uring_setting() -> std::string {
    auto const value = first_line("/proc/sys/kernel/io_uring_disabled");
    if (value == "0") return "0: for everybody";
    if (value == "1") return "1: for the privileged and kernel.io_uring_group only";
    if (value == "2") return "2: for nobody";
    return value.empty() ? "no such setting, as before Linux 6.6" : value;
}

struct power {
    char const* name;
    bool io_uring_powers::* has;
    char const* lack_costs;
};
constexpr power powers[] = {
    {"registered ring", &io_uring_powers::registered_ring_fd, "a look-up of its descriptor at each enter"},
    {"buffer rings", &io_uring_powers::buffer_rings,
     "two entries for a pooled receive: one looks, one takes"},
    {"multishot accept", &io_uring_powers::multishot_accept, "an entry for each connection"},
    {"multishot receive", &io_uring_powers::multishot_receive, "an entry for each buffer received"},
    {"message wake", &io_uring_powers::message_wake, "an eventfd, and a poll of it in flight"},
};

void tell_io_uring() {
    auto const made = io_uring_driver::make();
    if (!made) return line("io_uring", "no: " + made.error().message());
    line("io_uring", "yes");
    for (auto const& each : powers) {
        auto const has = (*made)->powers().*each.has;
        line((std::string("  ") + each.name).c_str(),
             has ? "yes" : std::string("no, which costs ") + each.lack_costs);
    }
}

void tell_epoll() {
    auto const made = epoll_driver::make();
    line("epoll", made ? "yes" : "no: " + made.error().message());
}

} // namespace

auto doctor() -> int {
    line("pitsaw", PITSAW_VERSION);
    line("kernel", kernel_release());
    line("RLIMIT_NOFILE", limit_text(limit::nofile));
    line("RLIMIT_MEMLOCK", limit_text(limit::memlock));
    line("seccomp", seccomp_mode());
    line("kernel.io_uring_disabled", io_uring_setting());
    tell_io_uring();
    tell_epoll();
    auto const choice = consider_drivers();
    if (choice.made) {
        line("driver", std::string(choice.made->features().name) + ": " + choice.why);
        return 0;
    }
    line("driver", "none: " + choice.why + ": " + choice.error.message());
    return 1;
}

} // namespace pitsaw::cli
