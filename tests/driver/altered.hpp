#pragma once
#include "driver/decorator.hpp"

#include <functional>
#include <span>
#include <utility>

namespace pitsaw::laws::broken {

/// What a test changes of a driver, a line each: breakers that need no state of their own.
struct changes {
    std::function<bool(event&)> events = [](event&) { return true; };          // false: the event is lost
    std::function<bool(operation&)> cancels = [](operation&) { return true; }; // false: it is lost
    std::function<bool(operation&)> submits = [](operation&) { return true; }; // false: it is lost
    std::function<void(io_result<std::uint16_t>&)> lends = [](auto&) {};
    std::function<void(io_result<descriptor>&)> opens = [](auto&) {};
    std::function<void(socket_command&, io_result<void>&)> controls = [](auto&, auto&) {};
};

/// Another driver with changes. It attempts nothing, so that all goes through `poll`.
class altered final : public decorator {
  public:
    altered(driver& inner, changes what) : decorator(inner), what_(std::move(what)) {}

    auto attach(native_handle handle) noexcept -> io_result<descriptor> override {
        auto made = inner_.attach(handle);
        what_.opens(made);
        return made;
    }
    auto open_stream(address_family family) noexcept -> io_result<descriptor> override {
        auto made = inner_.open_stream(family);
        what_.opens(made);
        return made;
    }
    auto control(descriptor target, socket_command& command) noexcept -> io_result<void> override {
        auto done = inner_.control(target, command);
        what_.controls(command, done);
        return done;
    }
    auto lend(std::span<std::byte> memory, std::uint32_t buffer_bytes) noexcept
        -> io_result<std::uint16_t> override {
        auto lent = inner_.lend(memory, buffer_bytes);
        what_.lends(lent);
        return lent;
    }
    void give_back(std::uint16_t, std::uint16_t buffer) noexcept override {
        if (buffer != no_buffer) inner_.give_back(0, buffer);
    }
    auto attempt(operation&, event&) noexcept -> bool override { return false; }
    void submit(operation& op) noexcept override {
        if (what_.submits(op)) inner_.submit(op);
    }
    void cancel(operation& op) noexcept override {
        if (what_.cancels(op)) inner_.cancel(op);
    }
    auto poll(std::span<event> out, time_point until) noexcept -> std::size_t override {
        for (;;) {
            auto const count = inner_.poll(out, until);
            std::size_t kept = 0;
            for (auto const& each : out.first(count)) {
                auto changed = each;
                if (what_.events(changed)) out[kept++] = changed;
            }
            if (kept != 0 || count == 0) return kept;
        }
    }

    static constexpr std::uint16_t no_buffer = 999;

  private:
    changes what_;
};

} // namespace pitsaw::laws::broken
