#pragma once
#include "gateway/config.hpp"
#include "gateway/ledger.hpp"
#include "gateway/spooled_body.hpp"

#include <pitsaw/http/server.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace gateway {

/// What the gateway has from its surroundings, which a simulated world gives otherwise. Several workers call
/// these at a time.
struct surroundings {
    ledger::line_sink log = [](std::string_view) {};
    ledger::wall_clock clock = pitsaw::http::system_time;
    std::function<std::uint64_t()> log_lines_dropped = [] { return std::uint64_t{0}; };
};

/// What all workers of the gateway have in common. Threads: any.
struct shared_state {
    shared_state(config of, surroundings in);

    [[nodiscard]] std::string metrics_text() const;

    config const how;
    surroundings const with;
    ledger calls;
    spool bodies;
};

} // namespace gateway
