#pragma once
#include <pitsaw/base/clock.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace pitsaw::inline v0::sim {

/// How the network between the nodes of a world behaves. Within a node there is no delay.
///
/// ```cpp
/// ps::sim::world_options with;
/// with.network.latency_max = 40ms;          // the next country, not the next rack
/// with.network.stream_capacity = 1;         // every send but of one byte is short
/// ```
/// What was sent on one connection arrives in order, as TCP promises; between connections nothing is
/// promised. What a partition or a machine without power keeps from arriving is sent again until it does, as
/// TCP does, or until the sender gives up.
/// Lifetime, threads: a value. Sources of the two times: tcp_retries2 and tcp_syn_retries, Linux ip-sysctl.
struct network_options {
    duration latency_min = std::chrono::microseconds(50);
    duration latency_max = std::chrono::microseconds(500); ///< each way, drawn for each send
    /// Of each connection in each direction; 0: as much as there is.
    std::uint64_t bytes_per_second = 0;
    /// Bytes that a connection holds in each direction, on the way and unread. At least 1.
    std::size_t stream_capacity = 64 << 10;
    /// After so long without an answer a connection is broken: `timed_out`.
    duration give_up_after = std::chrono::milliseconds(924'600);
    /// The same for one that is being made.
    duration connect_gives_up_after = std::chrono::seconds(127);
};

} // namespace pitsaw::inline v0::sim
