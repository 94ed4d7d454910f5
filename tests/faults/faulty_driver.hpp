#pragma once
#include "faults/fault_plan.hpp"

#include <pitsaw/io/driver.hpp>

#include <memory>
#include <utility>

namespace pitsaw::faults {

/// A driver whose every call counts for the plan; what the test itself asks of the system does not.
class faulty_driver final : public driver {
  public:
    explicit faulty_driver(std::unique_ptr<driver> own) : own_(std::move(own)) {}
    ~faulty_driver() override {
        inside const it;
        own_.reset();
    }

    auto now() const noexcept -> time_point override { return own_->now(); }
    auto attach(native_handle handle) noexcept -> io_result<descriptor> override {
        inside const it;
        return own_->attach(handle);
    }
    auto open_stream(address_family family) noexcept -> io_result<descriptor> override {
        inside const it;
        return own_->open_stream(family);
    }
    auto control(descriptor target, socket_command& command) noexcept -> io_result<void> override {
        inside const it;
        return own_->control(target, command);
    }
    auto lend(std::span<std::byte> memory, std::uint32_t buffer_bytes) noexcept
        -> io_result<std::uint16_t> override {
        inside const it;
        return own_->lend(memory, buffer_bytes);
    }
    void give_back(std::uint16_t pool, std::uint16_t buffer) noexcept override {
        inside const it;
        own_->give_back(pool, buffer);
    }
    auto attempt(operation& op, event& finished) noexcept -> bool override {
        inside const it;
        return own_->attempt(op, finished);
    }
    void submit(operation& op) noexcept override {
        inside const it;
        own_->submit(op);
    }
    void cancel(operation& op) noexcept override {
        inside const it;
        own_->cancel(op);
    }
    auto poll(std::span<event> out, time_point until) noexcept -> std::size_t override {
        inside const it;
        return own_->poll(out, until);
    }
    void wake() noexcept override {
        inside const it;
        own_->wake();
    }
    auto detach(descriptor target) noexcept -> io_result<native_handle> override {
        inside const it;
        return own_->detach(target);
    }
    void discard(descriptor target) noexcept override {
        inside const it;
        own_->discard(target);
    }
    auto drain(std::span<event> out, time_point deadline) noexcept -> drain_progress override {
        inside const it;
        return own_->drain(out, deadline);
    }
    auto features() const noexcept -> driver_features override { return own_->features(); }

  private:
    std::unique_ptr<driver> own_;
};

} // namespace pitsaw::faults
