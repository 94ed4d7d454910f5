#pragma once
#include <pitsaw/io/operation.hpp>

#include <cstdint>

namespace pitsaw::inline v0 {

/// Which way an operation's bytes go: those of one way keep their order, the two do not wait for each other
/// (law 13), and those of no direction wait for nobody.
enum direction : std::uint8_t { inward, outward, no_direction, directions };

[[nodiscard]] constexpr auto direction_of(op_code code) noexcept -> direction {
    switch (code) {
    case op_code::receive:
    case op_code::accept:
        return inward;
    case op_code::send:
    case op_code::connect:
    case op_code::shutdown:
        return outward;
    case op_code::nop:
    case op_code::watch:
    case op_code::close:
        return no_direction;
    }
    return no_direction;
}

} // namespace pitsaw::inline v0
