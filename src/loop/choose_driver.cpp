#include "loop/choose_driver.hpp"

#include "driver/epoll/driver.hpp"
#include "driver/sim/driver.hpp"

#include <pitsaw/base/check.hpp>

#include <cstdlib>
#include <string_view>
#include <system_error>

namespace pitsaw::inline v0 {
namespace {

/// What the user asks for, or empty. Read at each start of a runtime, which no thread changes meanwhile.
auto asked_for() noexcept -> std::string_view {
    char const* const text = std::getenv("PITSAW_DRIVER");
    return text == nullptr ? std::string_view() : std::string_view(text);
}

} // namespace

std::unique_ptr<driver> choose_driver() {
    auto const name = asked_for();
    if (name == "sim") return std::make_unique<sim_driver>(sim_driver_options::calm());
    check(name.empty() || name == "epoll", "PITSAW_DRIVER names no driver of this system: sim, epoll");
    auto made = epoll_driver::make();
    if (!made) throw std::system_error(made.error(), "no driver: epoll");
    return std::move(*made);
}

} // namespace pitsaw::inline v0
