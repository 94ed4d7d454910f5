#include "model/engine.hpp"

#include <bit>
#include <chrono>
#include <exception>

namespace pitsaw::inline v0::model {
namespace {

thread_local constinit engine* engine_of_this_thread = nullptr;

// What the threads of failed runs have captured: never destroyed, and reachable from here.
auto abandoned_work() -> std::vector<std::move_only_function<void()>>& {
    static auto* const all = new std::vector<std::move_only_function<void()>>;
    return *all;
}

/// A step that neither changes what others may do nor depends on what they did.
[[nodiscard]] constexpr auto commutes(step_kind kind) noexcept -> bool {
    return kind == step_kind::start || kind == step_kind::join || kind == step_kind::wake ||
           kind == step_kind::fence;
}

} // namespace

engine::engine(options const& how, std::function<void()> const& body)
    : how_(how), body_(body), search_(how) {}
engine::~engine() = default;

auto engine::current() noexcept -> engine* {
    auto* const here = engine_of_this_thread;
    return here == nullptr || here->is_paused_ ? nullptr : here;
}

auto engine::explore() -> report {
    auto const began = std::chrono::steady_clock::now();
    if (!how_.replay.empty() && !search_.read_script(how_.replay)) {
        report_.failure = "the replay cannot be read";
        return report_;
    }
    auto* const before = std::exchange(engine_of_this_thread, this);
    bool is_left = true;
    while (is_left && report_.executions < how_.executions_max) {
        begin_run();
        is_paused_ = false;
        explorer_.switch_to(threads_[0].stack);
        is_paused_ = true;
        ++report_.executions;
        if (search_.is_redundant()) ++report_.redundant;
        report_.steps += steps_;
        if (has_failed_) break;
        is_left = search_.advance();
    }
    engine_of_this_thread = before;
    report_.is_complete = !is_left && !has_failed_ && how_.replay.empty();
    if (has_failed_)
        for (auto& each : threads_) {
            if (!each.has_finished) each.stack.abandon();
            // What it captured belongs to the run that is abandoned.
            if (each.work) abandoned_work().push_back(std::move(each.work));
        }
    report_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    return report_;
}

void engine::begin_run() {
    memory_.clear();
    search_.begin_run();
    log_.clear();
    steps_ = 0;
    changes_ = 0;
    count_ = 0;
    for (auto& each : threads_) each.has_finished = true;
    running_ = &threads_[0];
    runner_ = 0;
    (void)start_thread([this] { body_(); }, std::source_location::current());
}

auto engine::start_thread(std::move_only_function<void()> work, std::source_location where) -> unsigned {
    if (count_ == threads_max) fail("more threads than threads_max", &where);
    auto& made = threads_[count_];
    auto const number = count_++;
    bool const is_first = number == 0;
    made.view.number = number;
    made.view.steps = 0;
    made.view.past = made.view.acquirable = made.view.fenced = made.causal = {};
    made.view.spurious = how_.spurious_failures_max;
    made.view.looked_at.clear();
    made.pending = {.kind = step_kind::start, .where = where};
    made.work = std::move(work);
    made.locals.clear();
    made.made_at = where;
    made.maker = is_first ? 0 : running_->view.number;
    made.has_finished = made.is_notified = made.has_yielded = made.is_excused = false;
    made.changes = made.others_at_yield = 0;
    made.others_at_retry = UINT64_MAX;
    if (!is_first) {
        auto& maker = *running_;
        ++maker.view.steps;
        maker.view.past.at[maker.view.number] = maker.causal.at[maker.view.number] = maker.view.steps;
        made.view.past = maker.view.past;
        made.causal = maker.causal;
    }
    made.stack.begin([] { engine_of_this_thread->thread_main(); });
    return number;
}

void engine::thread_main() {
    auto& self = *running_;
    std::string problem; // told outside the handler, which ends the exception
    try {
        if (self.view.number != 0)
            (void)begin_step(self.pending); // whoever chose it for this has switched here
        self.work();
        self.work = nullptr;
    } catch (std::exception const& error) {
        problem = std::string("an exception left the thread: ") + error.what();
    } catch (...) {
        problem = "an exception left the thread";
    }
    if (!problem.empty()) fail(std::move(problem), &self.made_at);
    finish_thread();
}

void engine::finish_thread() {
    auto& self = *running_;
    ++self.view.steps;
    self.view.past.at[self.view.number] = self.causal.at[self.view.number] = self.view.steps;
    self.has_finished = true;
    note_change();
    if (self.view.number == 0) end_run();
    auto const next = pick();
    running_ = &threads_[next];
    self.stack.switch_to(running_->stack, true);
    std::unreachable();
}

void engine::end_run() {
    for (unsigned i = 0; i < count_; ++i)
        if (!threads_[i].has_finished)
            fail("the body has ended before a thread of its own", &threads_[i].made_at);
    threads_[0].stack.switch_to(explorer_, true);
    std::unreachable();
}

void engine::fail(std::string what, std::source_location const* where) {
    is_paused_ = true;
    has_failed_ = true;
    report_.failure = std::move(what);
    if (where != nullptr)
        report_.failure += std::string(" at ") + where->file_name() + ':' + std::to_string(where->line());
    report_.trace = trace();
    report_.replay = rerun();
    running_->stack.switch_to(explorer_);
    std::unreachable();
}

void engine::note_change() noexcept {
    ++changes_;
    ++running_->changes;
}

// ---- Who goes next.

auto engine::is_enabled(virtual_thread const& of) const noexcept -> bool {
    if (of.has_finished) return false;
    switch (of.pending.kind) {
    case step_kind::wake:
        return of.is_notified;
    case step_kind::join:
        return threads_[of.pending.other].has_finished;
    case step_kind::lock:
        return memory_[of.pending.object].owner == location::nobody;
    default:
        return true;
    }
}

/// Who has yielded waits until another has changed something. If nobody else can go on, it looks once more.
auto engine::enabled() noexcept -> thread_mask {
    thread_mask able = 0, retries = 0;
    for (unsigned i = 0; i < count_; ++i) {
        auto const& each = threads_[i];
        if (!is_enabled(each)) continue;
        if (!each.has_yielded || others_changes(each) != each.others_at_yield)
            able |= bit(i);
        else if (others_changes(each) != each.others_at_retry)
            retries |= bit(i);
    }
    if (able != 0 || retries == 0) return able;
    retries &= ~retries + 1; // one of them
    auto& again = threads_[static_cast<unsigned>(std::countr_zero(retries))];
    again.others_at_retry = others_changes(again);
    return retries;
}

auto engine::preferred(thread_mask among) const noexcept -> unsigned {
    auto const here = runner_;
    if ((among & bit(here)) != 0 && !threads_[here].has_yielded) return here;
    for (auto left = among; left != 0; left &= left - 1) {
        auto const each = static_cast<unsigned>(std::countr_zero(left));
        if (!threads_[each].has_yielded) return each;
    }
    auto const later = among & ~((bit(here) << 1) - 1); // in turn
    return static_cast<unsigned>(std::countr_zero(later != 0 ? later : among));
}

auto engine::pending_of(unsigned number) -> pending {
    auto const& of = threads_[number].pending;
    bool const is_atomic =
        of.object != no_object && memory_[of.object].traits->kind == detail::object_kind::atomic;
    return {effects::of(of.kind), of.object,
            is_atomic ? static_cast<std::uint32_t>(memory_[of.object].stores.size()) : 0};
}

auto engine::pick() -> unsigned {
    auto const able = enabled();
    if (able == 0) stuck();
    search::turn now;
    now.enabled = able;
    now.running = runner_;
    now.preferred = preferred(able);
    now.may_go_on = now.preferred == now.running;
    for (auto left = able; left != 0 && !now.is_free; left &= left - 1) {
        auto const each = static_cast<unsigned>(std::countr_zero(left));
        if (!commutes(threads_[each].pending.kind)) continue;
        now.preferred = each;
        now.is_free = true;
    }
    for (unsigned i = 0; i < count_; ++i)
        if (!threads_[i].has_finished) now.next[i] = pending_of(i);
    for (unsigned i = 0; i < threads_max; ++i)
        if (i >= count_ || threads_[i].has_finished) now.next[i] = {{}, no_object, 0};
    std::function<bool(unsigned, std::uint32_t)> const has_fresh = [this](unsigned thread,
                                                                          std::uint32_t tried) {
        auto const& of = threads_[thread];
        memory_.list(of.view, of.pending, alternatives_);
        for (auto const& each : alternatives_)
            if (each.store >= tried) return true;
        return false;
    };
    now.has_fresh = &has_fresh;
    auto const next = search_.choose_thread(now);
    if (next == threads_max)
        fail(how_.replay.empty() ? "the body is not deterministic: it went another way when it was run again"
                                 : "the replay does not fit this body");
    return next;
}

void engine::go_on() {
    auto const next = pick();
    auto* const from = running_;
    if (next == from->view.number) return;
    running_ = &threads_[next];
    from->stack.switch_to(running_->stack);
}

/// Waits for the turn of the calling thread, and begins its step.
auto engine::step_once(step next) -> log_entry& {
    auto& self = *running_;
    self.pending = next;
    go_on();
    return begin_step(next);
}

auto engine::begin_step(step const& next) -> log_entry& {
    auto& self = *running_;
    self.has_yielded = false;
    if (!commutes(next.kind)) runner_ = self.view.number;
    if (++steps_ > how_.steps_max)
        fail("a run of more than steps_max (" + std::to_string(how_.steps_max) +
             ") steps: a loop that waits calls model::yield, others need a bound");
    ++self.view.steps;
    auto const number = self.view.number;
    self.view.past.at[number] = self.causal.at[number] = self.view.steps;
    auto* const at = next.object == no_object ? nullptr : &memory_[next.object];
    search_.note(at, effects::of(next.kind), number, self.view.steps, self.causal);
    self.causal.at[number] = self.view.steps;
    log_.push_back({.thread = number, .what = next, .choice = 0});
    return log_.back();
}

void engine::stuck() {
    std::string what = "deadlock:";
    bool spins = false;
    for (unsigned i = 0; i < count_; ++i) {
        auto const& each = threads_[i];
        if (each.has_finished) continue;
        spins = spins || is_enabled(each);
        what += std::string(" thread ") + static_cast<char>('a' + i) + " waits " + waits_text(each) + ';';
    }
    what.back() = '.';
    if (spins) what.replace(0, 9, "nothing will change any more:");
    fail(what);
}

auto engine::local(void const* key) -> void*& {
    for (auto& each : running_->locals)
        if (each.first == key) return each.second;
    return running_->locals.emplace_back(key, nullptr).second;
}

} // namespace pitsaw::inline v0::model
