#pragma once
#include "driver/law_subject.hpp"

#include <pitsaw/base/random.hpp>
#include <pitsaw/io/buffer.hpp>

#include <chrono>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pitsaw::laws {

class law_loop;

/// An operation that remembers what happened to it.
struct tracked : wide_operation {
    tracked(law_loop& by, op_code what, descriptor on) noexcept;

    law_loop& loop;
    std::size_t serial;                // in the order of making
    std::vector<std::byte> bytes;      // its buffer
    std::vector<std::int32_t> results; // of every event, in order
    int submitted = 0;
    int finals = 0;

    [[nodiscard]] auto ended() const noexcept -> bool { return submitted == finals; }
    [[nodiscard]] auto result() const noexcept -> std::int32_t {
        return results.empty() ? 0 : results.back();
    }
    [[nodiscard]] auto was_cancelled() const noexcept -> bool;
};

/// What a worker's loop does with a driver, watching at each step what the laws say of every call.
///
/// Owns its operations and ends what is in flight when it goes, so that a law can return at its finding.
class law_loop {
  public:
    explicit law_loop(law_subject& subject, std::size_t span = 8) : subject_(subject), out_(span + guard) {}
    law_loop(law_loop&&) = delete;
    ~law_loop() { subject_.abandon(); }

    auto make(op_code what, descriptor on = {}) -> tracked& {
        return operations_.emplace_back(*this, what, on);
    }
    auto make_receive(descriptor from, std::size_t bytes) -> tracked&;
    auto make_send(descriptor to, std::vector<std::byte> bytes) -> tracked&;
    auto make_connect(descriptor which, std::vector<std::byte> address) -> tracked&;

    void submit(tracked& op);
    [[nodiscard]] auto attempt(tracked& op) -> bool; // true: its result is the last of op.results
    void start(tracked& op) {
        if (!attempt(op)) submit(op);
    }
    void cancel(tracked& op);
    void wake();

    /// Polls once and runs what came; returns how many events.
    auto turn(time_point until) -> std::size_t;
    /// False: `limit` passed first.
    template <class Done> [[nodiscard]] auto run_until(Done done, duration limit = patience) -> bool {
        auto const deadline = saturating_add(io().now(), limit);
        for (std::size_t turns = 0; !done(); ++turns) {
            if (io().now() >= deadline || turns == turns_max) return false;
            turn(deadline);
        }
        return true;
    }
    [[nodiscard]] auto run_until_ended(tracked& op) -> bool {
        return run_until([&] { return op.ended(); });
    }
    /// For what no event announces: looks once a millisecond.
    template <class Done> [[nodiscard]] auto run_until_seen(Done done) -> bool {
        auto const deadline = saturating_add(io().now(), patience);
        while (!done()) {
            if (io().now() >= deadline) return false;
            turn(saturating_add(io().now(), std::chrono::milliseconds(1)));
        }
        return true;
    }
    /// Gives whatever should not come the time to come.
    void run_for(duration time) {
        (void)run_until([] { return false; }, time);
    }

    /// Asks all that is in flight to end; false: some of it did not.
    [[nodiscard]] auto end_all() -> bool;
    /// Sends the bytes of the pattern, however many operations that takes.
    [[nodiscard]] auto send_all(descriptor to, std::size_t from, std::size_t count) -> bool;
    /// Receives until the end of the stream, an error or `most`; returns the bytes, or nothing if they break
    /// the pattern or never come.
    [[nodiscard]] auto receive_all(descriptor from, std::size_t at, std::size_t most = SIZE_MAX)
        -> std::optional<std::size_t>;

    [[nodiscard]] auto io() -> driver& { return subject_.io(); }
    [[nodiscard]] auto in_flight() const noexcept -> std::size_t { return in_flight_; }
    [[nodiscard]] auto finals() const noexcept -> std::vector<tracked*> const& { return finals_; } // in order
    [[nodiscard]] auto events() const noexcept -> std::size_t { return events_; }
    /// The first broken law that the loop itself saw, or empty.
    [[nodiscard]] auto finding() const -> std::string const& { return finding_; }
    void found(std::string what) {
        if (finding_.empty()) finding_ = std::move(what);
    }

    /// Called with what poll returned, before any of it runs.
    std::function<void(std::span<event const>)> before_run;

    /// Memory of pools: lent for as long as anything is in flight.
    std::deque<std::vector<std::byte>> lent;

    static constexpr auto patience = std::chrono::seconds(10);
    static constexpr auto a_while = std::chrono::milliseconds(20);

  private:
    friend struct tracked;
    std::size_t made_ = 0;
    static constexpr std::size_t turns_max = 300'000; // time stands still where events have no end
    static constexpr std::size_t guard = 4;           // events beyond the span, which nobody may write
    static void on_event(operation& op, event const& what) noexcept;

    law_subject& subject_;
    std::vector<event> out_;
    std::deque<tracked> operations_;
    std::vector<tracked*> finals_;
    std::size_t in_flight_ = 0;
    std::size_t events_ = 0;
    unsigned wakes_ = 0;  // asked for by wake() and not yet seen
    bool inside_ = false; // a call of the driver
    std::string finding_;
};

/// The byte at a position of the test streams: a lost, doubled or moved byte shows.
[[nodiscard]] inline auto pattern(std::size_t at) noexcept -> std::byte {
    return static_cast<std::byte>((at * 131) ^ (at >> 8) ^ (at >> 16));
}
[[nodiscard]] auto pattern(std::size_t from, std::size_t count) -> std::vector<std::byte>;
[[nodiscard]] auto follows_pattern(std::span<std::byte const> bytes, std::size_t from) noexcept -> bool;

/// Text of a finding: all parts in a row.
template <class... Parts> [[nodiscard]] auto text(Parts const&... parts) -> std::string {
    std::string all;
    auto const add = [&](auto const& part) {
        if constexpr (requires { std::to_string(part); })
            all += std::to_string(part);
        else
            all += part;
    };
    (add(parts), ...);
    return all;
}

} // namespace pitsaw::laws
