#include "driver/law_loop.hpp"

#include <algorithm>

namespace pitsaw::laws {

tracked::tracked(law_loop& by, op_code what, descriptor on) noexcept
    : wide_operation(what, on, &law_loop::on_event), loop(by), serial(by.made_++) {}

auto tracked::was_cancelled() const noexcept -> bool {
    return result() < 0 && to_error(result()) == std::errc::operation_canceled;
}

auto law_loop::make_receive(descriptor from, std::size_t bytes) -> tracked& {
    auto& op = make(op_code::receive, from);
    op.bytes.resize(bytes);
    set_buffer(op, op.bytes);
    return op;
}

auto law_loop::make_send(descriptor to, std::vector<std::byte> bytes) -> tracked& {
    auto& op = make(op_code::send, to);
    op.bytes = std::move(bytes);
    set_source(op, op.bytes);
    return op;
}

auto law_loop::make_connect(descriptor which, std::vector<std::byte> address) -> tracked& {
    auto& op = make(op_code::connect, which);
    op.bytes = std::move(address);
    set_source(op, op.bytes);
    return op;
}

void law_loop::submit(tracked& op) {
    ++op.submitted;
    ++in_flight_;
    inside_ = true;
    io().submit(op);
    inside_ = false;
}

auto law_loop::attempt(tracked& op) -> bool {
    event done;
    inside_ = true;
    auto const succeeded = io().attempt(op, done);
    inside_ = false;
    if (!succeeded) return false;
    if (done.op != &op || !done.is_final())
        found("law 1: attempt succeeded with an event that is not its own final one");
    op.results.push_back(done.result);
    return true;
}

void law_loop::cancel(tracked& op) {
    inside_ = true;
    io().cancel(op);
    inside_ = false;
}

void law_loop::wake() {
    ++wakes_;
    io().wake();
}

auto law_loop::turn(time_point until) -> std::size_t {
    auto const span = std::span(out_).first(out_.size() - guard);
    std::ranges::fill(out_, event{});
    inside_ = true;
    auto const count = io().poll(span, until);
    inside_ = false;
    if (count > span.size())
        found(text("law 8: poll returned ", count, " events for a span of ", span.size()));
    for (auto const& beyond : std::span(out_).last(guard))
        if (beyond.op != nullptr) found("law 8: poll wrote beyond its span");
    if (count == 0 && io().now() < until && wakes_ == 0)
        found("law 6: poll returned nothing before `until` without a wake");
    wakes_ = 0;
    if (before_run) before_run(span.first(std::min(count, span.size())));
    for (auto const& e : span.first(std::min(count, span.size()))) {
        if (e.op == nullptr || e.op->on_event != &on_event) {
            found("law 1: an event for an operation that nobody submitted");
            continue;
        }
        e.op->on_event(*e.op, e);
    }
    return count;
}

auto law_loop::end_all() -> bool {
    for (auto& op : operations_)
        if (!op.ended()) cancel(op);
    return run_until([&] { return in_flight_ == 0; });
}

auto law_loop::send_all(descriptor to, std::size_t from, std::size_t count) -> bool {
    while (count > 0) {
        auto& op = make_send(to, pattern(from, std::min<std::size_t>(count, 16 << 10)));
        start(op);
        if (!run_until_ended(op) || op.result() <= 0) return false;
        from += static_cast<std::size_t>(op.result());
        count -= static_cast<std::size_t>(op.result());
    }
    return true;
}

auto law_loop::receive_all(descriptor from, std::size_t at, std::size_t most) -> std::optional<std::size_t> {
    std::size_t total = 0;
    while (total < most) {
        auto& op = make_receive(from, std::min<std::size_t>(most - total, 16 << 10));
        start(op);
        if (!run_until_ended(op)) return {};
        if (op.result() <= 0) break;
        auto const count = static_cast<std::size_t>(op.result());
        if (!follows_pattern(std::span(op.bytes).first(count), at + total)) return {};
        total += count;
    }
    return total;
}

void law_loop::on_event(operation& op, event const& what) noexcept {
    auto& self = static_cast<tracked&>(op);
    auto& loop = self.loop;
    ++loop.events_;
    if (loop.inside_)
        loop.found(text("law 5: on_event of a ", name(op.code), " ran inside a call of the driver"));
    if (self.ended()) {
        loop.found(text("law 1: an event for a ", name(op.code), " that is not in flight"));
        return;
    }
    if (what.result < 0) {
        auto const error = to_error(what.result);
        if (error == std::errc::interrupted || error == std::errc::operation_would_block)
            loop.found(text("law 6: a ", name(op.code), " ended with: ", error.message()));
    }
    self.results.push_back(what.result);
    if (!what.is_final()) return;
    if (op.state != 0) loop.found("law 1: operation::state is not 0 after the final event");
    ++self.finals;
    --loop.in_flight_;
    loop.finals_.push_back(&self);
}

auto pattern(std::size_t from, std::size_t count) -> std::vector<std::byte> {
    std::vector<std::byte> bytes(count);
    for (std::size_t i = 0; i < count; ++i) bytes[i] = pattern(from + i);
    return bytes;
}

auto follows_pattern(std::span<std::byte const> bytes, std::size_t from) noexcept -> bool {
    for (std::size_t i = 0; i < bytes.size(); ++i)
        if (bytes[i] != pattern(from + i)) return false;
    return true;
}

} // namespace pitsaw::laws
