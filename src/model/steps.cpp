#include "model/engine.hpp"

#include <algorithm>
#include <utility>

namespace pitsaw::inline v0::model {

auto engine::find(detail::place const& at) -> std::uint32_t {
    std::string problem;
    auto const found = memory_.find(at, running_->view, problem);
    if (!problem.empty()) fail(std::move(problem), &at.where);
    return found;
}

/// One of the ways in `mask`; what the search has chosen in an earlier run, or a replay names, may not be
/// there.
auto engine::choose(std::uint64_t mask) -> unsigned {
    auto const way = search_.choose_way(mask);
    if (way >= 64 || (mask >> way & 1) == 0)
        fail(how_.replay.empty()
                 ? "the body is not deterministic: a load read otherwise when it was run again"
                 : "the replay does not fit this body");
    return way;
}

auto engine::access(detail::place const& at, step next) -> memory::result {
    next.object = find(at);
    next.where = at.where;
    if (how_.weaken) {
        next.order = how_.weaken(next.order, at.where);
        if (next.kind == step_kind::compare_exchange)
            next.failure_order = how_.weaken(next.failure_order, at.where);
    }
    auto& entry = step_once(next);
    (void)find(at); // it may have ended meanwhile
    auto& self = *running_;
    if (!memory_.has_room_for_sc()) fail("too many sequentially consistent operations in a run", &at.where);
    memory_.list(self.view, next, alternatives_);
    if (alternatives_.size() > 64) fail("too many stores that may be read", &at.where);
    std::uint64_t mask = 0;
    auto const tried = search_.stores_tried();
    for (std::size_t i = 0; i < alternatives_.size(); ++i)
        if (alternatives_[i].store >= tried) mask |= std::uint64_t(1) << i;
    entry.choice = choose(mask);
    auto const how = alternatives_[entry.choice];
    auto const done =
        memory_.execute(self.view, next, how, self.causal, static_cast<std::uint32_t>(log_.size()) - 1);
    entry.values = done;
    if (done.from != access::none) entry.from = memory_[next.object].stores[done.from].logged;
    if (how.how == alternative::way::fails) entry.how = log_entry::outcome::failed;
    if (how.how == alternative::way::fails_spuriously) {
        entry.how = log_entry::outcome::failed_spuriously;
        self.is_excused = true;
    }
    if (done.written != access::none && (done.from == access::none || done.before != done.after))
        note_change();
    search_.note_result(self.causal);
    return done;
}

void engine::wait(detail::place const& at, detail::word old, std::memory_order order) {
    for (bool newest_only = false;; newest_only = true) {
        // The kernel has just seen another value than `old`; who asks again sees that or a later one.
        if (access(at, {.kind = step_kind::load, .order = order, .newest_only = newest_only}).before != old)
            return;
        auto const object = find(at);
        auto& parking = step_once({.kind = step_kind::park, .object = object, .where = at.where});
        (void)find(at);
        auto& self = *running_;
        search_.note_result(self.causal);
        if (memory_.newest(object).value != old) {
            parking.how = log_entry::outcome::not_parked;
            continue;
        }
        parking.how = log_entry::outcome::parked;
        memory_[object].waiting.push_back(self.view.number);
        note_change();
        self.is_notified = false;
        (void)step_once({.kind = step_kind::wake, .object = object, .where = at.where});
        search_.note_result(running_->causal);
        newest_only = false;
    }
}

void engine::notify(detail::place const& at, bool all) {
    auto const object = find(at);
    auto& entry = step_once({.kind = step_kind::notify, .object = object, .all = all, .where = at.where});
    (void)find(at);
    auto& self = *running_;
    search_.note_result(self.causal);
    auto& waiting = memory_[object].waiting;
    if (waiting.empty()) return;
    note_change();
    auto const wake = [&](unsigned who) {
        auto& woken = threads_[who];
        woken.is_notified = true;
        woken.causal.join(self.causal);
        ++entry.woken;
        // A condition's waiter goes on by locking, which says what happens before.
    };
    if (all) {
        for (auto const each : waiting) wake(each);
        waiting.clear();
        return;
    }
    entry.choice = choose((std::uint64_t(1) << waiting.size()) - 1);
    wake(waiting[entry.choice]);
    waiting.erase(waiting.begin() + entry.choice);
}

void engine::fence(std::memory_order order, std::source_location where) {
    if (how_.weaken) order = how_.weaken(order, where);
    (void)step_once({.kind = step_kind::fence, .order = order, .where = where});
    if (!memory_.has_room_for_sc()) fail("too many sequentially consistent operations in a run", &where);
    memory_.execute_fence(running_->view, order);
    search_.note_result(running_->causal);
}

void engine::join(unsigned number, std::source_location where) {
    (void)step_once({.kind = step_kind::join, .other = number, .where = where});
    running_->view.past.join(threads_[number].view.past);
    running_->causal.join(threads_[number].causal);
    search_.note_result(running_->causal);
}

void engine::yield(std::source_location where) {
    (void)step_once({.kind = step_kind::yield, .where = where});
    auto& self = *running_;
    search_.note_result(self.causal);
    bool const has_more = memory_.look_again(self.view);
    self.has_yielded = !std::exchange(self.is_excused, false) && !has_more;
    self.others_at_yield = others_changes(self);
}

void engine::lock(detail::place const& at) {
    auto const object = find(at);
    if (memory_[object].owner == running_->view.number)
        fail("a thread locks " + memory_.name_of(object) + ", which it holds", &at.where);
    (void)step_once({.kind = step_kind::lock, .object = object, .where = at.where});
    (void)find(at);
    auto& self = *running_;
    auto& of = memory_[object];
    of.owner = self.view.number;
    self.view.past.join(of.release);
    of.accesses.push_back(
        {self.view.number, self.view.steps, access::none, access::none, sc_order::nobody, {}, at.where});
    note_change();
    search_.note_result(self.causal);
}

auto engine::try_lock(detail::place const& at) -> bool {
    auto const object = find(at);
    auto& entry = step_once({.kind = step_kind::try_lock, .object = object, .where = at.where});
    (void)find(at);
    auto& self = *running_;
    auto& of = memory_[object];
    search_.note_result(self.causal);
    if (of.owner != location::nobody) {
        entry.how = log_entry::outcome::failed;
        return false;
    }
    of.owner = self.view.number;
    self.view.past.join(of.release);
    note_change();
    return true;
}

void engine::unlock(detail::place const& at) {
    auto const object = find(at);
    if (memory_[object].owner != running_->view.number)
        fail("a thread unlocks " + memory_.name_of(object) + ", which it does not hold", &at.where);
    (void)step_once({.kind = step_kind::unlock, .object = object, .where = at.where});
    auto& self = *running_;
    auto& of = memory_[object];
    of.owner = location::nobody;
    of.release = self.view.past;
    note_change();
    search_.note_result(self.causal);
}

/// Takes its place among those who wait while it still holds the mutex, so no notification comes in between.
void engine::await_condition(detail::place const& at, detail::place const& mutex) {
    auto const object = find(at);
    auto& parking = step_once({.kind = step_kind::park, .object = object, .where = at.where});
    parking.how = log_entry::outcome::parked;
    auto& self = *running_;
    search_.note_result(self.causal);
    memory_[object].waiting.push_back(self.view.number);
    self.is_notified = false;
    unlock(mutex);
    (void)step_once({.kind = step_kind::wake, .object = object, .where = at.where});
    search_.note_result(running_->causal);
    lock(mutex);
}

void engine::variable(detail::place const& at, bool is_write) {
    auto const object = find(at);
    std::string problem;
    auto& self = *running_;
    if (is_write)
        memory_.write_variable(memory_[object], self.view, at.where, problem);
    else
        memory_.read_variable(memory_[object], self.view, at.where, problem);
    log_.push_back({.thread = self.view.number,
                    .what = {.kind = is_write ? step_kind::write_variable : step_kind::read_variable,
                             .object = object,
                             .where = at.where},
                    .choice = 0});
    if (!problem.empty()) fail(std::move(problem) + ", on " + memory_.name_of(object));
}

void engine::made(detail::place const& at) { memory_.make(at, running_->view); }

void engine::gone(void const* at) {
    std::string problem;
    memory_.end(at, running_->view, problem);
    if (!problem.empty()) fail(std::move(problem));
}

} // namespace pitsaw::inline v0::model
