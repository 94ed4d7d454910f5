#pragma once
#include "driver/decorator.hpp"

#include <set>
#include <vector>

/// Drivers that each break one law, 1 to 9; the number above each is that of the law.
namespace pitsaw::laws::broken {

// 1
struct loses_final_events final : decorator {
    using decorator::decorator;
    int seen = 0;
    auto poll(std::span<event> out, time_point until) noexcept -> std::size_t override {
        auto const count = inner_.poll(out, until);
        if (count == 0 || ++seen % 5 != 0) return count;
        return count > 1 ? count - 1 : inner_.poll(out, until);
    }
};

struct doubles_final_events final : decorator {
    using decorator::decorator;
    std::deque<event> held;
    int seen = 0;
    auto poll(std::span<event> out, time_point until) noexcept -> std::size_t override {
        auto const count = poll_behind(held, out, until);
        if (count > 0 && ++seen % 7 == 0) held.push_back(out[count - 1]);
        return count;
    }
};

struct forgets_the_more_flag final : decorator {
    using decorator::decorator;
    auto poll(std::span<event> out, time_point until) noexcept -> std::size_t override {
        auto const count = inner_.poll(out, until);
        for (auto& e : out.first(count)) e.flags = event_flag::none;
        return count;
    }
};

// 2
struct writes_after_the_final_event final : decorator {
    using decorator::decorator;
    std::vector<void*> finished;
    auto poll(std::span<event> out, time_point until) noexcept -> std::size_t override {
        if (finished.size() > 20) *static_cast<unsigned char*>(finished.front()) = 1;
        auto const count = inner_.poll(out, until);
        for (auto const& e : out.first(count))
            if (e.op->code == op_code::receive && e.op->length > 0) finished.push_back(e.op->address);
        return count;
    }
};

// 3
struct loses_cancels final : decorator {
    using decorator::decorator;
    int seen = 0;
    void cancel(operation& op) noexcept override {
        if (op.state != 0 && op.code == op_code::accept) return;
        inner_.cancel(op);
    }
};

struct cancels_the_whole_queue final : decorator {
    using decorator::decorator;
    std::vector<operation*> queued;
    void submit(operation& op) noexcept override {
        queued.push_back(&op);
        inner_.submit(op);
    }
    void cancel(operation& op) noexcept override {
        for (auto* const other : queued)
            if (other->state != 0 && other->target == op.target && other->code == op.code)
                inner_.cancel(*other);
    }
};

struct cancels_what_is_in_the_span final : decorator {
    using decorator::decorator;
    std::set<operation*> asked;
    void submit(operation& op) noexcept override {
        inner_.submit(op);
        if (asked.erase(&op) != 0) inner_.cancel(op); // the wish outlived its operation
    }
    void cancel(operation& op) noexcept override {
        asked.insert(&op);
        inner_.cancel(op);
    }
};

/// `of`: reports as cancelled whatever a cancel was asked for, and with it drops what the operation did.
template <op_code of> struct cancel_chooses_the_result final : decorator {
    using decorator::decorator;
    std::set<operation*> asked;
    void submit(operation& op) noexcept override {
        asked.erase(&op);
        inner_.submit(op);
    }
    void cancel(operation& op) noexcept override {
        if (op.state != 0 && op.code == of) asked.insert(&op);
        inner_.cancel(op);
    }
    auto poll(std::span<event> out, time_point until) noexcept -> std::size_t override {
        auto const count = inner_.poll(out, until);
        for (auto& e : out.first(count))
            if (asked.contains(e.op)) e.result = -static_cast<std::int32_t>(std::errc::operation_canceled);
        return count;
    }
};

// 5
struct calls_back_in_submit final : decorator {
    using decorator::decorator;
    void submit(operation& op) noexcept override {
        event done;
        if (inner_.attempt(op, done))
            op.on_event(op, done);
        else
            inner_.submit(op);
    }
};

struct calls_back_in_poll final : decorator {
    using decorator::decorator;
    auto poll(std::span<event> out, time_point until) noexcept -> std::size_t override {
        auto const count = inner_.poll(out, until);
        for (auto const& e : out.first(count)) e.op->on_event(*e.op, e);
        return 0;
    }
};

// 6
struct returns_early final : decorator {
    using decorator::decorator;
    auto poll(std::span<event> out, time_point until) noexcept -> std::size_t override {
        return inner_.poll(out, until > now() ? now() + (until - now()) / 2 : until);
    }
};

struct lets_would_block_out final : decorator {
    using decorator::decorator;
    int seen = 0;
    auto poll(std::span<event> out, time_point until) noexcept -> std::size_t override {
        auto const count = inner_.poll(out, until);
        for (auto& e : out.first(count))
            if (++seen % 50 == 0) e.result = -static_cast<std::int32_t>(std::errc::operation_would_block);
        return count;
    }
};

struct reports_more_than_arrived final : decorator {
    using decorator::decorator;
    auto poll(std::span<event> out, time_point until) noexcept -> std::size_t override {
        auto const count = inner_.poll(out, until);
        for (auto& e : out.first(count))
            if (e.op->code == op_code::receive && e.result > 0)
                e.result = static_cast<std::int32_t>(e.op->length);
        return count;
    }
};

// 7
struct refuses_when_full final : decorator {
    using decorator::decorator;
    std::size_t in_flight = 0;
    void submit(operation& op) noexcept override {
        if (in_flight == 64) return;
        ++in_flight;
        inner_.submit(op);
    }
    auto poll(std::span<event> out, time_point until) noexcept -> std::size_t override {
        auto const count = inner_.poll(out, until);
        in_flight -= static_cast<std::size_t>(std::ranges::count_if(out.first(count), &event::is_final));
        return count;
    }
};

// 8
struct drops_what_does_not_fit final : decorator {
    using decorator::decorator;
    auto poll(std::span<event> out, time_point until) noexcept -> std::size_t override {
        std::vector<event> all(out.size() + 64);
        auto const count = std::min(inner_.poll(all, until), out.size());
        std::copy_n(all.begin(), count, out.begin());
        return count;
    }
};

struct writes_beyond_the_span final : decorator {
    using decorator::decorator;
    auto poll(std::span<event> out, time_point until) noexcept -> std::size_t override {
        return inner_.poll({out.data(), out.size() + 1}, until); // the laws' loop keeps room there, to see it
    }
};

// 9
struct does_not_translate final : decorator {
    using decorator::decorator;
    auto poll(std::span<event> out, time_point until) noexcept -> std::size_t override {
        auto const count = inner_.poll(out, until);
        for (auto& e : out.first(count))
            if (e.result < 0) e.result = -1;
        return count;
    }
    auto attempt(operation& op, event& finished) noexcept -> bool override {
        if (!inner_.attempt(op, finished)) return false;
        if (finished.result < 0) finished.result = -1;
        return true;
    }
};

} // namespace pitsaw::laws::broken
