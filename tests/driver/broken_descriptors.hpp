#pragma once
#include "driver/decorator.hpp"

#include <map>
#include <utility>
#include <vector>

/// Drivers that each break one law, 10 to 15; the number above each is that of the law.
namespace pitsaw::laws::broken {

// 10
struct lets_stale_cancels_through final : decorator {
    using decorator::decorator;
    operation* last = nullptr;
    void submit(operation& op) noexcept override {
        last = &op;
        inner_.submit(op);
    }
    void cancel(operation& op) noexcept override {
        inner_.cancel(op.state == 0 && last != nullptr ? *last : op);
    }
};

struct ignores_generations final : decorator {
    using decorator::decorator;
    std::map<std::uint32_t, std::uint32_t> closed; // index -> the generation that ended
    void follow(descriptor& stale) {
        auto const found = closed.find(stale.index);
        if (found != closed.end() && stale.generation <= found->second) stale.generation = found->second + 1;
    }
    auto attempt(operation& op, event& finished) noexcept -> bool override {
        follow(op.target);
        return inner_.attempt(op, finished);
    }
    void submit(operation& op) noexcept override {
        follow(op.target);
        inner_.submit(op);
    }
    auto poll(std::span<event> out, time_point until) noexcept -> std::size_t override {
        auto const count = inner_.poll(out, until);
        for (auto const& e : out.first(count))
            if (e.op->code == op_code::close && e.result == 0)
                closed[e.op->target.index] = e.op->target.generation;
        return count;
    }
};

// 11
struct sends_events_elsewhere final : decorator {
    struct stray {
        event what;
        driver* from;
    };
    sends_events_elsewhere(driver& inner, std::vector<stray>& pool) : decorator(inner), strays(pool) {}
    std::vector<stray>& strays;
    auto poll(std::span<event> out, time_point until) noexcept -> std::size_t override {
        auto count = inner_.poll(out, until);
        if (count == 0) return 0;
        if (strays.empty()) {
            strays.push_back({out[0], this});
            out[0] = out[--count];
        } else if (strays.front().from != this) {
            std::swap(out[0], strays.front().what);
        }
        return count > 0 ? count : inner_.poll(out, until);
    }
};

// 12
struct closes_first final : decorator {
    using decorator::decorator;
    std::deque<event> ready;
    std::deque<event> held; // of a descriptor that is being closed
    operation* closing = nullptr;
    void submit(operation& op) noexcept override {
        if (op.code == op_code::close) closing = &op;
        inner_.submit(op);
    }
    auto poll(std::span<event> out, time_point until) noexcept -> std::size_t override {
        while (ready.empty()) {
            auto const count = inner_.poll(out, until);
            if (count == 0) return 0;
            for (auto const& e : out.first(count)) {
                auto const waits = closing != nullptr && e.op != closing && e.op->target == closing->target;
                (waits ? held : ready).push_back(e);
                if (e.op != closing) continue;
                ready.insert(ready.end(), held.begin(), held.end());
                held.clear();
                closing = nullptr;
            }
        }
        return poll_behind(ready, out, until);
    }
};

struct closes_without_the_rest final : decorator {
    using decorator::decorator;
    std::deque<event> held;
    std::vector<descriptor> closing;
    void submit(operation& op) noexcept override {
        if (op.code == op_code::close)
            held.push_back({&op, 0, event_flag::none}); // says so, and leaves the others at work
        else
            inner_.submit(op);
    }
    auto poll(std::span<event> out, time_point until) noexcept -> std::size_t override {
        return poll_behind(held, out, until);
    }
};

struct closes_before_the_bytes_are_out final : decorator {
    using decorator::decorator;
    int seen = 0;
    auto attempt(operation& op, event& finished) noexcept -> bool override {
        if (op.code != op_code::send || ++seen % 4 != 0) return inner_.attempt(op, finished);
        finished = {&op, static_cast<std::int32_t>(op.length), event_flag::none}; // and a close drops them
        return true;
    }
};

struct detaches_and_forgets_the_bytes final : decorator {
    using decorator::decorator;
    auto detach(descriptor target) noexcept -> io_result<native_handle> override {
        std::array<std::byte, 64> lost{};
        operation look;
        look.code = op_code::receive;
        look.target = target;
        look.address = lost.data();
        look.length = lost.size();
        event finished;
        for (int tries = 0; tries < 100 && !inner_.attempt(look, finished); ++tries) { // it may decline
        }
        return inner_.detach(target);
    }
};

struct detaches_under_an_operation final : decorator {
    using decorator::decorator;
    auto detach(descriptor target) noexcept -> io_result<native_handle> override {
        auto const left = inner_.detach(target);
        if (left || left.error() != std::errc::device_or_resource_busy) return left;
        return native_handle(1 << 20); // says that it did
    }
};

struct forgets_discards final : decorator {
    using decorator::decorator;
    void discard(descriptor) noexcept override {}
};

// 13
struct last_in_first_out final : decorator {
    using decorator::decorator;
    std::vector<operation*> waiting;
    auto attempt(operation&, event&) noexcept -> bool override { return false; }
    void submit(operation& op) noexcept override { waiting.push_back(&op); }
    auto poll(std::span<event> out, time_point until) noexcept -> std::size_t override {
        for (; !waiting.empty(); waiting.pop_back()) inner_.submit(*waiting.back());
        return inner_.poll(out, until);
    }
};

struct attempts_overtake final : decorator {
    using decorator::decorator;
    std::vector<operation*> waiting; // submitted at the next poll: until then an attempt sees no queue
    void submit(operation& op) noexcept override { waiting.push_back(&op); }
    auto poll(std::span<event> out, time_point until) noexcept -> std::size_t override {
        for (auto* const op : std::exchange(waiting, {})) inner_.submit(*op);
        return inner_.poll(out, until);
    }
};

struct one_queue_for_both_directions final : decorator {
    using decorator::decorator;
    std::deque<operation*> waiting;
    auto attempt(operation&, event&) noexcept -> bool override { return false; }
    void submit(operation& op) noexcept override {
        waiting.push_back(&op);
        if (waiting.size() == 1) inner_.submit(op);
    }
    auto poll(std::span<event> out, time_point until) noexcept -> std::size_t override {
        auto const count = inner_.poll(out, until);
        for (auto const& e : out.first(count)) {
            if (waiting.empty() || e.op != waiting.front()) continue;
            waiting.pop_front();
            if (!waiting.empty()) inner_.submit(*waiting.front());
        }
        return count;
    }
};

// 14
struct ignores_wakes final : decorator {
    using decorator::decorator;
    void wake() noexcept override {}
};

struct never_forgets_a_wake final : decorator {
    using decorator::decorator;
    bool woken = false;
    void wake() noexcept override { woken = true; }
    auto poll(std::span<event> out, time_point until) noexcept -> std::size_t override {
        return inner_.poll(out, woken ? now() : until);
    }
};

// 15
struct drains_nothing final : decorator {
    using decorator::decorator;
    auto drain(std::span<event>, time_point) noexcept -> drain_progress override { return {}; }
};

struct drain_names_nobody final : decorator {
    using decorator::decorator;
    auto drain(std::span<event> out, time_point deadline) noexcept -> drain_progress override {
        auto progress = inner_.drain(out, deadline);
        progress.oldest = nullptr;
        return progress;
    }
};

} // namespace pitsaw::laws::broken
