#include "loop/choose_driver.hpp"

#include "driver/epoll/driver.hpp"
#include "driver/io_uring/driver.hpp"
#include "driver/sim/driver.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>

namespace pitsaw::inline v0 {
namespace {

/// What the user asks for, or empty. Read at each start of a runtime, which no thread changes meanwhile.
auto asked_for() noexcept -> std::string_view {
    char const* const text = std::getenv("PITSAW_DRIVER");
    return text == nullptr ? std::string_view() : std::string_view(text);
}

template <class Driver> auto or_throw(io_result<std::unique_ptr<Driver>> made, char const* name) {
    if (!made) throw std::system_error(made.error(), std::string("no driver: ") + name);
    return std::move(*made);
}

auto io_uring_or_epoll() -> std::unique_ptr<driver> {
    auto ring = io_uring_driver::make();
    if (ring) return std::move(*ring);
    auto instead = or_throw(epoll_driver::make(), "epoll");
    std::fprintf(stderr, "pitsaw: the system refuses io_uring (%s), so the driver is epoll\n",
                 ring.error().message().c_str());
    return instead;
}

} // namespace

std::unique_ptr<driver> choose_driver() {
    auto const name = asked_for();
    if (name.empty()) return io_uring_or_epoll();
    if (name == "io_uring") return or_throw(io_uring_driver::make(), "io_uring");
    if (name == "epoll") return or_throw(epoll_driver::make(), "epoll");
    if (name == "sim") return std::make_unique<sim_driver>(sim_driver_options::calm());
    throw std::system_error(std::make_error_code(std::errc::invalid_argument),
                            "PITSAW_DRIVER is \"" + std::string(name) +
                                "\", which names no driver of this system: io_uring, epoll, sim");
}

} // namespace pitsaw::inline v0
