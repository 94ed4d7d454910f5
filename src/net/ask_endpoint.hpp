#pragma once
#include <pitsaw/executor/executor_ref.hpp>
#include <pitsaw/io/descriptor.hpp>
#include <pitsaw/io/socket_command.hpp>
#include <pitsaw/net/endpoint.hpp>

namespace pitsaw::inline v0 {

/// One end of a socket: `which` is `local_address` or `peer_address`.
[[nodiscard]] io_result<endpoint> ask_endpoint(executor_ref home, descriptor of,
                                               socket_command::kind which) noexcept;

} // namespace pitsaw::inline v0
