#pragma once
#include <pitsaw/base/clock.hpp>
#include <pitsaw/executor/timer_node.hpp>
#include <pitsaw/io/operation.hpp>
#include <pitsaw/scope/stop_scope.hpp>
#include <pitsaw/task/child.hpp>
#include <pitsaw/task/task.hpp>

#include <coroutine>
#include <cstdint>
#include <optional>

namespace pitsaw::inline v0::http {

/// How a connection goes on.
enum class next_step : std::uint8_t { go_on, close, linger };

/// When an exchange is stopped.
struct exchange_limits {
    duration watch_after; // the client is watched from then on
    duration drain_timeout;
    op_option watched; // `broken`, or none: the peer's end counts as well
};

/// The scope of the requests that are being answered: a stop from outside reaches them `drain_timeout` later,
/// a client that goes stops them at once.
///
/// Most requests are answered at once, so the client is watched only after a while: a watch costs a call of
/// the system, the timer nothing. `is_draining` is set when the stop comes. Gives what the work gives;
/// nothing if its client is gone and it was stopped.
/// Lifetime: in the awaiting frame, which the watch in flight keeps: the end waits for its final event.
class [[nodiscard]] exchange_scope : boundary, stop_scope, timer_node {
  public:
    exchange_scope(descriptor client, exchange_limits const& limits, bool& is_draining,
                   task<next_step>& work) noexcept
        : boundary(ended), stop_scope(asked), timer_node(expired), limits_(limits), is_draining_(is_draining),
          watch_(client, *this), child_(work) {
        watch_.options = limits.watched;
    }

    [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept;
    [[nodiscard]] std::optional<next_step> await_resume();

  private:
    struct watch_operation : operation {
        watch_operation(descriptor client, exchange_scope& of) noexcept
            : operation(op_code::watch, client, seen), scope(of) {}
        exchange_scope& scope;
    };

    void drain_until(time_point at) noexcept;
    void stop(stop_reason why) noexcept;
    [[nodiscard]] bool is_delivered() const noexcept { return how_ != ending::stopped || is_peer_gone_; }

    static std::coroutine_handle<> ended(boundary& edge, promise_header&, ending how) noexcept;
    static void asked(waiter& self) noexcept;
    static void expired(timer_node& self) noexcept;
    static void seen(operation& op, event const& done) noexcept;

    exchange_limits limits_;
    bool& is_draining_;
    bool is_watching_ = false; // the watch is in flight
    bool has_watched_ = false;
    bool is_peer_gone_ = false;
    bool has_ended_ = false;
    ending how_ = ending::value;
    time_point watch_at_ = never;
    time_point drain_at_ = never;
    watch_operation watch_;
    child<task<next_step>> child_;
};

} // namespace pitsaw::inline v0::http
