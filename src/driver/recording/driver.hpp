#pragma once
#include "driver/recording/input_entry.hpp"

#include <pitsaw/io/driver.hpp>

#include <memory>
#include <span>
#include <vector>

namespace pitsaw::inline v0 {

/// A driver that writes down every call of another one with its answer: all that a program of one worker
/// learns of the outside, so that src/sim/replay_driver.hpp can answer the same calls again.
///
/// What comes when the memory is full is not kept, rather than that the oldest goes: a program can only be
/// executed again from its beginning.
/// Lifetime: that of the driver it owns; the memory outlives it. Threads, Errors: those of that driver.
class recording_driver final : public driver {
  public:
    recording_driver(std::unique_ptr<driver> own, std::span<std::byte> memory, input_room& room) noexcept
        : own_(std::move(own)), memory_(memory), room_(room) {}

    auto now() const noexcept -> time_point override;
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
    void wake() noexcept override;
    auto detach(descriptor target) noexcept -> io_result<native_handle> override;
    void discard(descriptor target) noexcept override;
    auto drain(std::span<event> out, time_point deadline) noexcept -> drain_progress override;
    auto features() const noexcept -> driver_features override;

  private:
    struct lent_pool {
        std::span<std::byte> memory;
        std::uint32_t buffer_bytes;
    };

    void append(input_entry const& last, std::span<std::byte const> content = {}) const noexcept;
    void append(std::span<event const> events) const noexcept;
    [[nodiscard]] auto received(event const& done) const noexcept -> std::span<std::byte const>;

    std::unique_ptr<driver> own_;
    std::span<std::byte> memory_;
    input_room& room_;
    std::vector<lent_pool> pools_;
};

} // namespace pitsaw::inline v0
