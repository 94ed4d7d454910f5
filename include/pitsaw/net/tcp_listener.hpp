#pragma once
#include <pitsaw/base/clock.hpp>
#include <pitsaw/executor/executor_ref.hpp>
#include <pitsaw/io/await_operation.hpp>
#include <pitsaw/net/tcp_stream.hpp>
#include <pitsaw/task/task.hpp>

#include <chrono>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace pitsaw::inline v0 {

/// How a listener is set up.
struct tcp_listener_options {
    std::int32_t backlog_max = 1024;  ///< connections that may wait to be accepted
    bool reuse_address = true;        ///< a port whose old connections linger may be bound again
    bool reuse_port = false;          ///< several listeners share a port
    bool only_ipv6 = true;            ///< of an IPv6 endpoint
    tcp_stream_options accepted = {}; ///< set on each connection
};
static_assert(std::is_trivially_copyable_v<tcp_listener_options>);

/// What `tcp_listener::accept` awaits: one connection as the driver reports it. One that nobody takes is
/// closed.
///
/// ```cpp
/// auto peer = co_await listener.accept();
/// ```
/// Lifetime: in the awaiting frame. Threads: the listener's. Errors: the system's, a shortage of descriptors
/// among them, which `accept` waits out. Stopping: as operation_leaf.
class [[nodiscard]] accept_operation : public operation_leaf {
  public:
    accept_operation(executor_ref home, descriptor from) noexcept
        : operation_leaf(op_code::accept, from), home_(home) {}
    ~accept_operation();
    [[nodiscard]] io_result<tcp_stream> await_resume() noexcept;

  private:
    executor_ref home_;
    bool is_taken_ = false;
};

/// Waits for connections on an endpoint.
///
/// ```cpp
/// auto listener = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::loopback(0)));
/// for (;;) clients.spawn(echo(co_await ps::or_return(listener.accept())));
/// ```
/// Lifetime: move-only, and moved only while no accept is in flight; its destructor closes it, and with it
/// the connections that nobody accepted. It must not outlive its runtime. Threads: the worker it was bound
/// on. Errors: `bind` gives the system's; `accept` waits 10 ms, doubling to 1 s, while the process or the
/// system has no descriptor or memory left, and gives any other. Stopping: a connection that was accepted is
/// delivered; otherwise it stays in the backlog. Sizes: 24 bytes.
class tcp_listener {
  public:
    using bound_to_worker = void; ///< see `transferable`

    using bound_to_runtime = void; ///< see sync_wait

    static constexpr duration pause_min = std::chrono::milliseconds(10);
    static constexpr duration pause_max = std::chrono::seconds(1);

    tcp_listener() = default; ///< none
    tcp_listener(tcp_listener&& other) noexcept
        : home_(other.home_), own_(std::exchange(other.own_, descriptor())), options_(other.options_) {}
    tcp_listener& operator=(tcp_listener&& other) noexcept {
        tcp_listener taken(std::move(other)); // itself, perhaps
        std::swap(home_, taken.home_);
        std::swap(own_, taken.own_);
        std::swap(options_, taken.options_);
        return *this;
    }
    ~tcp_listener();

    /// Port 0: a free one, see `local_endpoint`.
    [[nodiscard]] static task<io_result<tcp_listener>> bind(endpoint at, tcp_listener_options how = {});

    [[nodiscard]] task<io_result<tcp_stream>> accept();

    [[nodiscard]] io_result<endpoint> local_endpoint() const noexcept;

  private:
    tcp_listener(executor_ref home, descriptor own, tcp_listener_options const& how) noexcept
        : home_(home), own_(own), options_(how) {}
    [[nodiscard]] io_result<void> set_up(endpoint at) noexcept;

    executor_ref home_;
    descriptor own_;
    tcp_listener_options options_;
};

} // namespace pitsaw::inline v0
