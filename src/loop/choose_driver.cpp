#include "loop/choose_driver.hpp"

#include "driver/epoll/driver.hpp"
#include "driver/io_uring/driver.hpp"
#include "driver/sim/driver.hpp"
#include "os/linux/limits.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace pitsaw::inline v0 {
namespace {

/// What the user asks for, or empty. Read at each start of a runtime, which no thread changes meanwhile.
auto asked_for() noexcept -> std::string_view {
    char const* const text = std::getenv("PITSAW_DRIVER");
    return text == nullptr ? std::string_view() : std::string_view(text);
}

/// Which limit it is that memory ran into cannot be seen from the error.
auto limit_behind(std::error_code refusal) -> std::string {
    return refusal == std::errc::not_enough_memory ? ", RLIMIT_MEMLOCK is " + limit_text(limit::memlock) : "";
}

// GCC 12 takes a sum of strings for a write out of bounds, so the texts are put together step by step.
template <class Driver>
auto named(io_result<std::unique_ptr<Driver>> made, char const* name) -> driver_choice {
    driver_choice choice;
    choice.why = made ? "PITSAW_DRIVER names " : "no driver: ";
    choice.why += name;
    if (made) {
        choice.made = std::move(*made);
    } else {
        choice.error = made.error();
        choice.why += limit_behind(made.error());
    }
    return choice;
}

auto io_uring_or_epoll() -> driver_choice {
    auto ring = io_uring_driver::make();
    if (ring) return {.made = std::move(*ring), .why = "io_uring works", .error = {}};
    auto choice = named(epoll_driver::make(), "epoll");
    choice.is_a_fallback = true;
    std::string refusal = "io_uring (";
    refusal.append(ring.error().message()).append(limit_behind(ring.error())).append(")");
    if (choice.made)
        choice.why.assign("the system refuses ").append(refusal).append(", so the driver is epoll");
    else
        choice.why.assign("no driver: ").append(refusal).append(", epoll");
    return choice;
}

} // namespace

auto consider_drivers() -> driver_choice {
    auto const name = asked_for();
    if (name.empty()) return io_uring_or_epoll();
    if (name == "io_uring") return named(io_uring_driver::make(), "io_uring");
    if (name == "epoll") return named(epoll_driver::make(), "epoll");
    if (name == "sim")
        return {.made = std::make_unique<sim_driver>(sim_driver_options::calm()),
                .why = "PITSAW_DRIVER names sim",
                .error = {}};
    return {.made = {},
            .why = "PITSAW_DRIVER is \"" + std::string(name) +
                   "\", which names no driver of this system: io_uring, epoll, sim",
            .error = std::make_error_code(std::errc::invalid_argument)};
}

namespace {

auto working(driver_choice choice) -> driver_choice {
    if (!choice.made)
        throw std::system_error(choice.error, "`pitsaw doctor` says what this machine has; " + choice.why);
    return choice;
}

} // namespace

std::unique_ptr<driver> choose_driver() {
    auto choice = working(consider_drivers());
    if (choice.is_a_fallback) std::fprintf(stderr, "pitsaw: %s\n", choice.why.c_str());
    return std::move(choice.made);
}

std::unique_ptr<driver> choose_driver_again() { return working(consider_drivers()).made; }

} // namespace pitsaw::inline v0
