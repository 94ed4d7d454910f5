#pragma once
#include "driver/sim/driver.hpp"

#include <pitsaw/base/clock.hpp>
#include <pitsaw/io/driver.hpp>

#include <cstdint>
#include <memory>
#include <system_error>

namespace pitsaw::inline v0::sim {

/// Stands between a worker and its simulated driver, counts what could fail there, and lets one of it fail.
///
/// A *call* is an attempt, a submission, or a request for a descriptor or a pool: it lacks memory or
/// descriptors. An *operation* that fails takes a while, moves nothing and ends as if the world had broken
/// it; the connection it was on is broken from then on, so that its peer hears of it too. What closes never
/// fails.
/// What the simulated driver allocates is a kernel's memory: no `allocation_watch` hears of it.
/// Lifetime, Threads, Errors: those of `driver`.
class fault_driver final : public driver {
  public:
    /// What a harness counts and chooses.
    struct plan {
        std::uint64_t calls = 0;
        std::uint64_t operations = 0;
        std::uint64_t failing_call = 0;      ///< the first is 1; 0: none
        std::uint64_t failing_operation = 0; ///< likewise
        /// It has just been chosen, and will fail with this.
        void (*on_failure)(void* context, char const* what, std::errc with) noexcept = nullptr;
        void* context = nullptr;
    };

    explicit fault_driver(std::unique_ptr<sim_driver> own) noexcept : own_(std::move(own)) {}

    plan faults;

    auto now() const noexcept -> time_point override { return own_->now(); }
    auto attach(native_handle handle) noexcept -> io_result<descriptor> override;
    auto open_stream(address_family family) noexcept -> io_result<descriptor> override;
    auto control(descriptor target, socket_command& command) noexcept -> io_result<void> override;
    auto lend(std::span<std::byte> memory, std::uint32_t buffer_bytes) noexcept
        -> io_result<std::uint16_t> override;
    void give_back(std::uint16_t pool, std::uint16_t buffer) noexcept override;
    auto attempt(operation& op, event& finished) noexcept -> bool override;
    void submit(operation& op) noexcept override;
    void cancel(operation& op) noexcept override;
    auto poll(std::span<event> out, time_point until) noexcept -> std::size_t override;
    void wake() noexcept override { own_->wake(); }
    auto detach(descriptor target) noexcept -> io_result<native_handle> override;
    void discard(descriptor target) noexcept override;
    auto drain(std::span<event> out, time_point deadline) noexcept -> drain_progress override;
    auto features() const noexcept -> driver_features override { return own_->features(); }

    /// When the operation that was chosen is to end; `never` if none is in flight.
    [[nodiscard]] auto next_failure_at() const noexcept -> time_point {
        return held_ == nullptr ? never : held_until_;
    }

  private:
    [[nodiscard]] auto is_failing_call(char const* what, std::errc with) noexcept -> bool;
    void strike(char const* what, std::errc with) noexcept;
    void hold(operation& op, std::int32_t result, duration takes) noexcept;
    void end_held(descriptor at) noexcept;
    [[nodiscard]] auto is_held_due() const noexcept -> bool;
    [[nodiscard]] auto deliver_held() noexcept -> event;

    std::unique_ptr<sim_driver> own_;
    operation* held_ = nullptr; // the one that fails, from its submission to its event
    std::int32_t held_result_ = 0;
    time_point held_until_{};
};

} // namespace pitsaw::inline v0::sim
