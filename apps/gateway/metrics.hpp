#pragma once
#include "gateway/token_usage.hpp"

#include <pitsaw/base/clock.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

namespace gateway {

/// How a call ended.
enum class call_end : std::uint8_t {
    ok,
    refused,         ///< by the gateway
    client_closed,   ///< the client left, broke off, or took no byte for too long
    timed_out,       ///< the provider took too long
    upstream_failed, ///< the provider could not be reached, or broke off
    shutdown,        ///< the gateway's own end came first
    gateway_failed,  ///< an exception
};
[[nodiscard]] std::string_view name(call_end of) noexcept;

/// One call, as logs and metrics see it. Nothing in it is secret, but what a client calls its model is the
/// client's text.
struct call_facts {
    std::string_view route;    ///< `/v1/chat/completions`
    std::string_view provider; ///< its name; empty: none was asked
    std::string model;
    unsigned status = 0; ///< that the client got; 0: none
    call_end end = call_end::gateway_failed;
    bool is_stream = false;
    token_usage usage;
    std::uint64_t bytes_in = 0, bytes_out = 0; ///< of bodies
    pitsaw::duration took{};
    pitsaw::duration first_token_after{}; ///< of a stream; zero: there was none
};

/// Counts calls, and tells in Prometheus's text format, version 0.0.4. The labels are routes, names of
/// providers and statuses: a client cannot make new ones.
class metrics {
  public:
    /// Each provider is made known before its first call.
    void know(std::string_view provider) { providers_.try_emplace(std::string(provider)); }

    void began() noexcept { ++open_; }
    /// Throws std::bad_alloc only after all but the number of calls has been counted, and only at the first
    /// call of a label.
    void ended(call_facts const& call);
    void forgotten() noexcept { --open_; }

    /// Calls that have not ended.
    [[nodiscard]] std::uint64_t open() const noexcept { return open_; }
    [[nodiscard]] std::string text(std::uint64_t log_lines_dropped) const;

  private:
    static constexpr std::array seconds{0.005, 0.01, 0.025, 0.05, 0.1,  0.25, 0.5,
                                        1.0,   2.5,  5.0,   10.0, 30.0, 60.0, 300.0};
    struct histogram {
        std::array<std::uint64_t, seconds.size() + 1> counts{};
        double sum = 0;
        void add(pitsaw::duration value) noexcept;
    };
    struct totals {
        token_usage tokens;
        histogram took, first_token;
    };
    static void write(std::string& to, std::string_view metric, std::string_view provider,
                      histogram const& of);

    std::uint64_t open_ = 0;
    std::map<std::tuple<std::string, std::string, std::string, unsigned>, std::uint64_t, std::less<>>
        calls_; // route, provider, end, status
    std::map<std::string, totals, std::less<>> providers_;
};

} // namespace gateway
