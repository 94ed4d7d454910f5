#pragma once
#include <pitsaw/io/driver.hpp>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <span>

namespace pitsaw::laws::broken {

/// Another driver, unchanged: what the broken ones below have in common.
class decorator : public driver {
  public:
    explicit decorator(driver& inner) : inner_(inner) {}

    auto now() const noexcept -> time_point override { return inner_.now(); }
    auto attach(native_handle handle) noexcept -> io_result<descriptor> override {
        return inner_.attach(handle);
    }
    auto open_stream(address_family family) noexcept -> io_result<descriptor> override {
        return inner_.open_stream(family);
    }
    auto control(descriptor target, socket_command& command) noexcept -> io_result<void> override {
        return inner_.control(target, command);
    }
    auto lend(std::span<std::byte> memory, std::uint32_t buffer_bytes) noexcept
        -> io_result<std::uint16_t> override {
        return inner_.lend(memory, buffer_bytes);
    }
    void give_back(std::uint16_t pool, std::uint16_t buffer) noexcept override {
        inner_.give_back(pool, buffer);
    }
    auto attempt(operation& op, event& finished) noexcept -> bool override {
        return inner_.attempt(op, finished);
    }
    void submit(operation& op) noexcept override { inner_.submit(op); }
    void cancel(operation& op) noexcept override { inner_.cancel(op); }
    auto poll(std::span<event> out, time_point until) noexcept -> std::size_t override {
        return inner_.poll(out, until);
    }
    void wake() noexcept override { inner_.wake(); }
    auto detach(descriptor target) noexcept -> io_result<native_handle> override {
        return inner_.detach(target);
    }
    void discard(descriptor target) noexcept override { inner_.discard(target); }
    auto drain(std::span<event> out, time_point deadline) noexcept -> drain_progress override {
        return inner_.drain(out, deadline);
    }
    auto features() const noexcept -> driver_features override { return inner_.features(); }

  protected:
    /// Hands out what `held` keeps, then what the driver has; for the breakers that delay or add events.
    auto poll_behind(std::deque<event>& held, std::span<event> out, time_point until) noexcept
        -> std::size_t {
        if (held.empty()) return inner_.poll(out, until);
        auto const count = std::min(held.size(), out.size());
        std::copy_n(held.begin(), count, out.begin());
        held.erase(held.begin(), held.begin() + static_cast<std::ptrdiff_t>(count));
        return count;
    }

    driver& inner_;
};

} // namespace pitsaw::laws::broken
