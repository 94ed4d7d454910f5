#pragma once
#include "driver/law_subject.hpp"
#include "driver/sim/driver.hpp"

#include <array>
#include <bit>
#include <chrono>
#include <optional>

namespace pitsaw::laws {

/// The simulator under the laws. `judged`, where given, stands between the laws and the simulator.
class sim_subject final : public law_subject {
  public:
    using wrapper = std::function<std::unique_ptr<driver>(sim_driver&)>;

    explicit sim_subject(sim_driver_options options, wrapper const& wrap = {}) : sim_(options) {
        if (wrap) judged_ = wrap(sim_);
    }

    auto simulator() -> sim_driver& { return sim_; }
    auto io() -> driver& override { return judged_ ? *judged_ : sim_; }
    auto connected_pair() -> std::pair<descriptor, descriptor> override { return sim_.make_stream_pair(); }
    auto socket() -> descriptor override { return sim_.make_socket(); }
    auto listen(std::size_t backlog_max) -> listening override {
        return {sim_.listen(address_of(next_port_), backlog_max), address_bytes(next_port_++)};
    }
    auto address_of_nobody() -> std::vector<std::byte> override { return address_bytes(1); }
    auto file() -> native_handle override { return native_handle::none; }
    void reset(descriptor stream) override { sim_.reset(stream); }
    auto open_objects() -> std::size_t override { return sim_.statistics().objects_open; }
    void abandon() noexcept override {
        std::array<event, 16> out;
        auto const deadline = saturating_add(sim_.now(), std::chrono::hours(1));
        while (sim_.drain(out, deadline).remaining != 0 && sim_.now() < deadline) {
        }
    }

  private:
    static auto address_of(std::uint16_t port) -> socket_address {
        return {.family = address_family::ipv4, .port = port};
    }
    static auto address_bytes(std::uint16_t port) -> std::vector<std::byte> {
        auto const bytes = std::bit_cast<std::array<std::byte, sizeof(socket_address)>>(address_of(port));
        return {bytes.begin(), bytes.end()};
    }

    sim_driver sim_;
    std::unique_ptr<driver> judged_;
    std::uint16_t next_port_ = 2; // nobody is at 1
};

} // namespace pitsaw::laws
