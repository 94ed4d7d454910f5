#include "driver/sim/driver.hpp"

#include "os/posix/thread_number.hpp"

#include <pitsaw/base/check.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <system_error>

namespace pitsaw::inline v0 {
namespace {

struct later {
    template <class Step> auto operator()(Step const& a, Step const& b) const noexcept -> bool {
        return a.at != b.at ? a.at > b.at : a.order > b.order;
    }
};

auto network_of_its_own(sim_driver_options const& options) -> std::unique_ptr<sim_network> {
    sim::network_options how;
    how.stream_capacity = options.stream_capacity;
    return std::make_unique<sim_network>(how, options.seed);
}

} // namespace

sim_driver::sim_driver(sim_driver_options options, sim_observer* observer)
    : sim_driver(options, observer, network_of_its_own(options), nullptr, sim_host{}) {}

sim_driver::sim_driver(sim_driver_options options, sim_observer* observer, sim_network& shared, sim_host on)
    : sim_driver(options, observer, nullptr, &shared, on) {}

sim_driver::sim_driver(sim_driver_options options, sim_observer* observer, std::unique_ptr<sim_network> own,
                       sim_network* shared, sim_host on)
    : options_(options), observer_(observer), random_(options.seed), own_network_(std::move(own)),
      network_(own_network_ ? own_network_.get() : shared), host_(on) {
    network_->subscribe(host_, changes_);
}

sim_driver::~sim_driver() {
    network_->unsubscribe(host_, changes_);
    if (counts_.in_flight == 0) return;
    auto const oldest = std::ranges::min_element(
        records_, {}, [](record const& r) { return r.at == stage::free ? UINT64_MAX : r.sequence; });
    char text[160];
    std::snprintf(text, sizeof text,
                  "driver law 15 (teardown): %zu in flight, the oldest: %s on descriptor %u",
                  counts_.in_flight, oldest->op != nullptr ? name(oldest->op->code).data() : "discard",
                  static_cast<unsigned>(oldest->slot));
    check_failed(text, std::source_location::current());
}

auto sim_driver::chance(unsigned percent) noexcept -> bool { return random_.below(100) < percent; }

/// As chance, but one that never comes true takes no number: the choices of other seeds stay what they were.
auto sim_driver::happens(unsigned percent) noexcept -> bool { return percent != 0 && chance(percent); }

auto sim_driver::up_to(duration most) noexcept -> duration {
    return duration(random_.between(0, std::max(most, duration::zero()).count()));
}

void sim_driver::check_home() noexcept {
    auto const here = this_thread_number();
    if (home_ == 0) home_ = here;
    check(home_ == here,
          "driver law 11 (home): only wake() may be called by another thread than the worker's");
}

auto sim_driver::attach(native_handle handle) noexcept -> io_result<descriptor> {
    check_home();
    if (is_cut_off_ || !network_->is_open(handle))
        return std::unexpected(std::make_error_code(std::errc::bad_file_descriptor));
    auto const number = static_cast<std::size_t>(handle);
    if (number >= slot_of_handle_.size()) slot_of_handle_.resize(number + 1, nobody);
    check(slot_of_handle_[number] == nobody, "a handle is attached once");
    auto index = static_cast<std::uint32_t>(slots_.size());
    if (free_slots_.empty()) {
        slots_.emplace_back().generation = first_generation_;
    } else {
        index = free_slots_.back();
        free_slots_.pop_back();
    }
    auto& made = slots_[index];
    made.handle = handle;
    made.is_open = true;
    slot_of_handle_[number] = index;
    ++counts_.descriptors_open;
    return descriptor{index, made.generation};
}

auto sim_driver::open_stream(address_family family) noexcept -> io_result<descriptor> {
    if (family == address_family::none)
        return std::unexpected(std::make_error_code(std::errc::address_family_not_supported));
    if (!may_open()) return std::unexpected(std::make_error_code(std::errc::too_many_files_open));
    return attach(network_->make_socket(host_));
}

auto sim_driver::may_open() noexcept -> bool {
    auto const most = options_.faults.descriptors_max;
    return !is_cut_off_ && (most == 0 || network_->open_count(host_) < most) &&
           !happens(options_.faults.no_descriptor_percent);
}

auto sim_driver::control(descriptor target, socket_command& command) noexcept -> io_result<void> {
    check_home();
    auto* const on = find(target);
    if (on == nullptr || on->closing != nobody)
        return std::unexpected(std::make_error_code(std::errc::bad_file_descriptor));
    if (is_cut_off_) return std::unexpected(std::make_error_code(std::errc::network_down));
    if (auto const result = network_->control(on->handle, command); result < 0)
        return std::unexpected(to_error(result));
    return {};
}

auto sim_driver::lend(std::span<std::byte> memory, std::uint32_t buffer_bytes) noexcept
    -> io_result<std::uint16_t> {
    check_home();
    auto const count = buffer_bytes == 0 ? 0 : memory.size() / buffer_bytes;
    if (count == 0 || count > pool_buffers_max || pools_.size() > UINT16_MAX)
        return std::unexpected(std::make_error_code(std::errc::invalid_argument));
    auto& made = pools_.emplace_back(pool{memory, buffer_bytes, {}, std::vector<bool>(count, true)});
    for (auto left = count; left != 0; --left) made.free.push_back(static_cast<std::uint16_t>(left - 1));
    return static_cast<std::uint16_t>(pools_.size() - 1);
}

void sim_driver::give_back(std::uint16_t of, std::uint16_t buffer) noexcept {
    check_home();
    check(of < pools_.size() && buffer < pools_[of].is_free.size() && !pools_[of].is_free[buffer],
          "driver law 16 (pools): a buffer was given back that no event had brought");
    auto& to = pools_[of];
    std::ranges::fill(to.buffer(buffer), std::byte{0xA5}); // whoever still reads it finds nonsense
    to.is_free[buffer] = true;
    to.free.push_back(buffer);
}

auto sim_driver::find(descriptor target) noexcept -> slot* {
    if (target.index >= slots_.size()) return nullptr;
    auto& candidate = slots_[target.index];
    return candidate.is_open && candidate.generation == target.generation ? &candidate : nullptr;
}

auto sim_driver::find(operation const& op) noexcept -> std::uint32_t {
    if (op.state == 0) return nobody;
    identity mark{};
    std::memcpy(&mark, op.scratch, sizeof mark);
    check(mark.home == this, "driver law 11 (home): the operation was submitted to another driver");
    auto const fits = mark.which < records_.size() && records_[mark.which].op == &op &&
                      records_[mark.which].sequence == mark.sequence;
    return fits ? mark.which : nobody;
}

void sim_driver::cancel(operation& op) noexcept {
    check_home();
    auto const which = find(op);
    if (which == nobody) return;
    if (options_.check_loans) records_[which].loan.verify(op);
    if (op.code != op_code::close) ask_to_end(which, true);
}

void sim_driver::ask_to_end(std::uint32_t which, bool by_owner) noexcept {
    auto& r = records_[which];
    if (r.cancel_asked) return;
    r.cancel_asked = true;
    if (r.at == stage::ended)
        return; // it has its result; go_on() ends a multishot operation after this event
    auto takes = duration::zero();
    if (chance(options_.cancel_late_percent)) takes = up_to(options_.cancel_late_max);
    if (by_owner && observer_ != nullptr) takes = observer_->cancel_takes(*r.op).value_or(takes);
    if (takes > duration::zero())
        plan(which, step_kind::cancel, takes);
    else
        end(which, -static_cast<std::int32_t>(std::errc::operation_canceled));
}

void sim_driver::plan(std::uint32_t which, step_kind kind, duration in_how_long) noexcept {
    auto& r = records_[which];
    auto const order = options_.shuffle ? random_() : 0;
    auto const count = ++sequence_;
    if (kind != step_kind::cancel) ++r.ticket;
    agenda_.push_back({.at = saturating_add(now(), in_how_long),
                       .order = options_.shuffle ? order : count,
                       .sequence = r.sequence,
                       .which = which,
                       .ticket = r.ticket,
                       .kind = kind});
    std::ranges::push_heap(agenda_, later{});
}

/// Does what is due until `out` is full. A delivery that finds no room stays on the agenda (law 8).
auto sim_driver::run_due(std::span<event> out) noexcept -> std::size_t {
    std::size_t count = 0;
    while (count < out.size() && !agenda_.empty() && agenda_.front().at <= now()) {
        std::ranges::pop_heap(agenda_, later{});
        auto const due = agenda_.back();
        agenda_.pop_back();
        if (is_stale(due)) continue;
        switch (due.kind) {
        case step_kind::take_place:
            take_place(due.which);
            break;
        case step_kind::cancel:
            end(due.which, -static_cast<std::int32_t>(std::errc::operation_canceled));
            break;
        case step_kind::deliver: {
            auto const has_event = records_[due.which].op != nullptr; // a discard has none
            deliver(due.which, out[count]);
            if (has_event) ++count;
            if (has_event && happens(options_.faults.overflow_percent)) return count; // the rest: next time
            break;
        }
        }
    }
    return count;
}

/// A step outlives its purpose when the operation went another way meanwhile, or the record has a new tenant.
auto sim_driver::is_stale(step const& planned) const noexcept -> bool {
    auto const& r = records_[planned.which];
    if (r.at == stage::free || r.sequence != planned.sequence) return true;
    return planned.kind == step_kind::cancel ? r.at == stage::ended : r.ticket != planned.ticket;
}

auto sim_driver::next_step_at() noexcept -> time_point {
    while (!agenda_.empty() && is_stale(agenda_.front())) {
        std::ranges::pop_heap(agenda_, later{});
        agenda_.pop_back();
    }
    return agenda_.empty() ? never : agenda_.front().at;
}

auto sim_driver::poll(std::span<event> out, time_point until) noexcept -> std::size_t {
    return turn(out, until, false);
}

auto sim_driver::turn(std::span<event> out, time_point until, bool until_empty) noexcept -> std::size_t {
    check_home();
    check(!out.empty(), "driver::poll needs room for at least one event");
    for (;;) {
        // acquire: pairs with the release in wake(), so that what the waker wrote is visible after this poll.
        // The load first: a turn that nobody wakes should not pay for a read-modify-write.
        auto const woken =
            woken_.load(std::memory_order_relaxed) != 0 && woken_.exchange(0, std::memory_order_acquire) != 0;
        look_again(); // others of the world may have sent something
        auto const count = run_due(out);
        if (count != 0 || woken || until <= now() || (until_empty && counts_.in_flight == 0)) return count;
        check(own_network_ != nullptr || until_empty,
              "a runtime of a simulated world is run by its world: world.run, not sync_wait");
        auto const next = std::min({next_step_at(), network_->next_at(), until});
        if (next != never)
            network_->advance_to(next);
        else
            wait_for_wake();
    }
}

auto sim_driver::is_due() noexcept -> bool {
    // relaxed: turn()'s exchange acquires.
    return woken_.load(std::memory_order_relaxed) != 0 || has_changes() || next_step_at() <= now();
}

/// Its sockets are the network's to close. What is in flight ends: as cancelled if it was asked to, else as
/// if the machine had lost its network.
void sim_driver::cut_off() {
    check_home();
    own_time_ = now();
    is_cut_off_ = true;
    network_->unsubscribe(host_, changes_);
    for (std::uint32_t which = 0; which < records_.size(); ++which) {
        auto const& r = records_[which];
        bool const is_close = r.op == nullptr || r.op->code == op_code::close;
        if (r.at == stage::free || r.at == stage::ended || is_close) continue;
        end(which,
            r.cancel_asked ? -static_cast<std::int32_t>(std::errc::operation_canceled) : cut_off_result);
    }
}

auto sim_driver::is_stuck() const noexcept -> bool {
    // relaxed: a hint, after which nothing of a waker is read.
    return woken_.load(std::memory_order_relaxed) == 0 && network_->next_at() == never && !has_changes() &&
           std::ranges::all_of(agenda_, [this](step const& planned) { return is_stale(planned); });
}

void sim_driver::wait_for_wake() noexcept {
    if (observer_ != nullptr) observer_->stuck();
    if (!is_stuck()) return;
    check(!options_.deadlock_is_error,
          "deadlock: a worker waits for ever, and nothing in its world will happen");
    woken_.wait(0, std::memory_order_relaxed); // relaxed: turn()'s exchange acquires
}

void sim_driver::wake() noexcept {
    // release: pairs with the acquire in turn(). An exchange continues an earlier wake's release sequence.
    if (woken_.exchange(1, std::memory_order_release) == 0) woken_.notify_one();
    if (observer_ != nullptr) observer_->woken();
}

void sim_driver::advance(duration by) {
    network_->advance_to(saturating_add(now(), std::max(by, duration::zero())));
}

auto sim_driver::drain(std::span<event> out, time_point deadline) noexcept -> drain_progress {
    if (counts_.in_flight != 0) check_home();
    for (std::uint32_t which = 0; which < records_.size(); ++which) {
        auto const& r = records_[which];
        auto const is_close = r.op == nullptr || r.op->code == op_code::close;
        if (r.at != stage::free && !is_close) ask_to_end(which, false);
    }
    drain_progress progress;
    if (counts_.in_flight != 0) progress.events = turn(out, deadline, true);
    progress.remaining = counts_.in_flight;
    auto sequence = UINT64_MAX;
    for (auto const& r : records_) {
        if (r.op == nullptr || r.sequence >= sequence) continue;
        sequence = r.sequence;
        progress.oldest = r.op;
    }
    return progress;
}

auto sim_driver::make_stream_pair() -> std::pair<descriptor, descriptor> {
    auto const [one, other] = network_->make_pair(host_);
    return {*attach(one), *attach(other)};
}

auto sim_driver::make_socket() -> descriptor { return *attach(network_->make_socket(host_)); }

auto sim_driver::listen(socket_address at, std::size_t backlog_max) -> descriptor {
    auto const listener = make_socket();
    socket_command bind{.what = socket_command::bind, .address = at};
    auto const value = static_cast<std::int32_t>(backlog_max);
    socket_command listen{.what = socket_command::listen, .value = value};
    check(control(listener, bind) && control(listener, listen),
          "another listener of this world has the port");
    return listener;
}

void sim_driver::reset(descriptor stream) {
    auto* const which = find(stream);
    check(which != nullptr, "reset of a descriptor that is not open");
    network_->reset(which->handle);
}

auto sim_driver::readable_bytes(descriptor stream) const noexcept -> std::size_t {
    auto const* const which = const_cast<sim_driver*>(this)->find(stream);
    return which == nullptr ? 0 : network_->readable_bytes(which->handle);
}

auto sim_driver::statistics() const noexcept -> sim_statistics {
    auto counts = counts_;
    counts.objects_open = network_->open_count();
    counts.traffic = network_->traffic();
    for (auto const& of : pools_) counts.buffers_out += of.is_free.size() - of.free.size();
    return counts;
}

} // namespace pitsaw::inline v0
