#pragma once
#include <pitsaw/io/driver.hpp>

#include <functional>
#include <memory>
#include <string>

namespace pitsaw::faults {

using driver_maker = std::function<io_result<std::unique_ptr<driver>>()>;

/// A short life of a driver that makes each of its calls: listen, connect, accept, receive in its own buffer
/// and in a pool's, send, watch, cancel, wake, close, discard, drain. What the armed fault makes fail is done
/// once more. Returns what it found broken, or nothing.
///
/// What may fail: `make`, a call or an operation, each with the fault's error, and once. What may not: a
/// final event that is missing, a byte lost or doubled, a descriptor left open.
[[nodiscard]] auto run_scenario(driver_maker const& make) -> std::string;

} // namespace pitsaw::faults
