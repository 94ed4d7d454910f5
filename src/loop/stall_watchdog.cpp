#include "loop/stall_watchdog.hpp"

#include "os/linux/thread_name.hpp"

#include <pitsaw/task/promise_header.hpp>

#include <algorithm>
#include <cstdio>
#include <new>
#include <span>

#include <signal.h>

namespace pitsaw::inline v0 {

namespace {

constexpr auto idle_period = std::chrono::milliseconds(100);
constexpr std::size_t sites_max = 1024; // further awaits are counted as one
constexpr auto told_again_after = std::chrono::seconds(1);

std::string line_of(std::source_location const& at) {
    return "  " + std::string(at.file_name()) + ":" + std::to_string(at.line()) + " " + at.function_name() +
           "\n";
}

} // namespace

std::string stall_report::text() const {
    auto const ms = std::chrono::duration_cast<std::chrono::milliseconds>(length).count();
    std::string all = "worker " + std::to_string(worker) + " has been held up for " + std::to_string(ms) +
                      " ms by " + (is_computing ? "a task that computes" : "a call that blocks") +
                      (task.empty() ? "" : " in " + task) + ", the " + std::to_string(count) +
                      ". time at this place\n";
    if (!async_stack.empty()) all += "async stack, innermost first; it stands behind the first await:\n";
    for (auto const& each : async_stack) all += line_of(each);
    if (!native_stack.empty()) all += "native stack, innermost first:\n";
    for (auto const& each : native_stack) all += "  " + each + "\n";
    return all;
}

stall_watchdog::stall_watchdog(stall_options options, std::size_t const workers)
    : options_(std::move(options)) {
    all_.reserve(workers);
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before); // signals of the process are for the program's threads
    try {
        thread_ = std::thread([this] { serve(); });
    } catch (...) {
        ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
        throw;
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

stall_watchdog::~stall_watchdog() {
    {
        std::lock_guard const lock(mutex_);
        is_over_ = true;
    }
    ends_.notify_one();
    thread_.join();
}

void stall_watchdog::attend(executor& worker, std::uint32_t const number, pulse const& shown) noexcept {
    std::lock_guard const lock(mutex_);
    all_.push_back({&worker, number, &shown, ::pthread_self(), number_of_this_task()});
}

void stall_watchdog::leave(executor const& worker) noexcept {
    {
        std::lock_guard const lock(mutex_);
        std::erase_if(all_, [&](watched const& each) { return each.worker == &worker; });
    }
    thread_probe::let_late_signals_come();
}

void stall_watchdog::serve() noexcept {
    set_thread_name("pitsaw-stalls");
    auto const period = options_.threshold / 2;
    std::unique_lock lock(mutex_);
    bool is_idle = false;
    while (!is_over_) {
        auto const planned = clock::now() + (is_idle ? std::max<duration>(period, idle_period) : period);
        if (ends_.wait_until(lock, planned, [this] { return is_over_; })) return;
        auto const now = clock::now();
        try {
            std::vector<stall_report> reports;
            is_idle = look(now, now - planned > options_.threshold, reports);
            lock.unlock(); // whoever hears of it may take his time
            for (auto& each : reports) tell(each);
        } catch (std::bad_alloc const&) {
            std::fputs("pitsaw: a worker is held up, and there is no memory to say by what\n", stderr);
        }
        if (!lock.owns_lock()) lock.lock();
    }
}

/// Whether every worker is at rest.
bool stall_watchdog::look(clock::time_point const now, bool const is_late,
                          std::vector<stall_report>& reports) {
    bool is_idle = true;
    for (auto& each : all_) {
        auto const number = each.shown->number();
        is_idle = is_idle && pulse::is_at_rest(number);
        bool const is_new = number != each.seen || pulse::is_at_rest(number);
        if (is_new || is_late) {
            each.seen = number;
            each.since = now;
            each.is_suspected = false;
            each.is_told = each.is_told && !is_new;
        } else if (!each.is_told && is_stall(each, now)) {
            each.is_told = true;
            reports.push_back(report(each, now));
        }
    }
    return is_idle;
}

bool stall_watchdog::is_stall(watched& one, clock::time_point const now) const noexcept {
    if (!one.is_suspected) {
        one.is_suspected = true;
        one.then = activity_of_thread(one.task);
        return false;
    }
    if (now - one.since < options_.threshold) return false;
    auto const activity = activity_of_thread(one.task);
    if (!activity.is_runnable) return true;
    // It computes, or waits for a processor that others have. A half, for it was suspected half a period
    // late.
    return activity.processor_ns - one.then.processor_ns >= options_.threshold.count() / 4;
}

/// On the worker's thread, which stands still: the chain of its current task is whole.
void stall_watchdog::look_at_task(void* const into) noexcept {
    auto& all = *static_cast<found*>(into);
    all.count = 0;
    all.name_length = 0;
    if (auto const* const runs = static_cast<promise_header const*>(all.worker->current);
        runs != nullptr && runs->env != nullptr && runs->env->name != nullptr)
        all.name_length = runs->env->name->copy(all.name.data(), all.name.size());
    for (auto const* header = static_cast<promise_header const*>(all.worker->current);
         header != nullptr && all.count != all.awaits.size(); header = header->parent)
        if (header->awaiting.line() != 0) all.awaits[all.count++] = header->awaiting;
}

stall_report stall_watchdog::report(watched const& one, clock::time_point const now) {
    stall_report what;
    what.worker = one.number;
    what.length = now - one.since;
    what.is_computing = activity_of_thread(one.task).is_runnable;
    found_.worker = one.worker;
    bool const has_stacks = options_.has_stacks && probe_.ask(one.thread, one.task);
    if (!has_stacks || one.shown->number() != one.seen) return what; // it goes on already
    auto const awaits = std::span(found_.awaits).first(found_.count);
    what.async_stack.assign(awaits.begin(), awaits.end());
    what.task.assign(found_.name.data(), found_.name_length);
    what.native_stack = probe_.native_stack();
    return what;
}

void stall_watchdog::tell(stall_report& what) {
    std::pair<std::string, std::uint32_t> place;
    if (!what.async_stack.empty() && sites_.size() < sites_max)
        place = {what.async_stack.front().file_name(), what.async_stack.front().line()};
    auto& at = sites_[place];
    what.count = ++at.count;
    if (options_.on_stall) return options_.on_stall(what);
    auto const now = clock::now();
    if (what.count != 1 && now - at.told < told_again_after) return;
    at.told = now;
    std::fprintf(stderr, "pitsaw: %s", what.text().c_str());
}

} // namespace pitsaw::inline v0
