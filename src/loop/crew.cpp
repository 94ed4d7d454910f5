#include "loop/crew.hpp"

#include "os/linux/thread_name.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

namespace pitsaw::inline v0 {

static_assert(runtime_options::stealing_workers_max == idle_workers::workers_max);

namespace {

[[noreturn]] void refuse(char const* const why) {
    throw std::system_error(std::make_error_code(std::errc::invalid_argument), why);
}

/// Read at each start of a runtime, which no thread changes meanwhile.
duration threshold_from_environment() {
    char const* const text = std::getenv("PITSAW_STALL_MS");
    if (text == nullptr) return duration();
    std::uint32_t count = 0;
    auto const* const end = text + std::strlen(text);
    auto const read = std::from_chars(text, end, count);
    if (read.ec != std::errc() || read.ptr != end) refuse("PITSAW_STALL_MS is no number of milliseconds");
    return std::chrono::milliseconds(count);
}

runtime_options possible(runtime_options options) {
    if (options.workers == 0) refuse("runtime_options::workers is 0: a runtime has at least one");
    if (options.workers > runtime_options::workers_max)
        refuse("runtime_options::workers is more than workers_max, 1024");
    if (options.scheduling == scheduling::stealing && options.workers > runtime_options::stealing_workers_max)
        refuse("runtime_options::workers is more than stealing_workers_max, 56, with scheduling::stealing");
    if (options.workers > 1 && options.recorder.input_bytes != 0)
        refuse(
            "recorder_options::input_bytes: a replay has one worker, and runtime_options::workers is more");
    if (options.stall.threshold == duration()) options.stall.threshold = threshold_from_environment();
    if (options.stall.threshold != duration() && options.stall.threshold < stall_options::threshold_min)
        refuse("stall_options::threshold is below threshold_min, 100 us");
    return options;
}

/// Where the calling thread could run if it were no pinned worker.
cpu_mask unpinned_mask() {
    if (auto const* const here = current_executor(); here != nullptr && here->unpinned != nullptr)
        return *here->unpinned;
    cpu_mask mask;
    if (auto const result = get_cpu_mask(mask); result != 0)
        throw std::system_error(to_error(result), "runtime_options::cpus");
    return mask;
}

void pin(std::uint32_t const cpu) {
    if (auto const result = set_cpu_mask(mask_of_cpu(cpu)); result != 0)
        throw std::system_error(to_error(result), "runtime_options::cpus: " + std::to_string(cpu));
}

} // namespace

crew::crew(runtime::driver_maker const& make_driver, runtime_options options, run_by const how)
    : options_(possible(std::move(options))), how_(how), make_driver_(make_driver),
      blocking_(options_.blocking) {
    all_.reserve(options_.workers);
    bool const is_pinned = !options_.cpus.empty();
    auto const* const here = current_executor();
    if (is_pinned || (here != nullptr && here->unpinned != nullptr)) unpinned_ = unpinned_mask();
    if (auto const cpu = cpu_of(0)) { // to be known now, and not at the first sync_wait
        pinned_thread const tried(*cpu);
        if (tried.result() != 0)
            throw std::system_error(to_error(tried.result()),
                                    "runtime_options::cpus: " + std::to_string(*cpu));
    }
    if (options_.stall.threshold != duration())
        watchdog_ = std::make_unique<stall_watchdog>(options_.stall, options_.workers);
    first_ = std::make_unique<worker>(make_driver(0), options_);
    first_->cpu = cpu_of(0);
    all_.push_back(first_.get());
    try {
        begin();
        if (options_.scheduling == scheduling::stealing && !members_.empty()) share();
    } catch (...) {
        give_up();
        throw;
    }
    introduce(*first_, 0);
    for (auto& each : members_) introduce(*each.loop, each.number);
    if (!members_.empty()) tell(phase::running);
}

crew::~crew() {
    check(!first_->is_running(),
          "a runtime was destroyed by work that runs on it: let its sync_wait return first");
    if (how_ == run_by::threads) {
        for (auto& each : members_) each.loop->post_from_any_thread(each.end_node, resume_as::callback);
        for (auto& each : members_) each.thread.join();
    }
    for (auto& each : members_) each.loop.reset();
    check(
        shared_ == nullptr || !shared_->has_overflowed(), // each worker has looked at its own place
        "a runtime was destroyed with work that had not ended: a child that was spawned for anywhere waits");
}

/// Before any of them runs: what each knows of the others, and of what they share.
void crew::introduce(worker& each, std::uint32_t const number) noexcept {
    each.number = number;
    each.workers = all_;
    each.blocking = &blocking_;
    if (!options_.cpus.empty()) each.unpinned = &unpinned_;
    if (!each.has_virtual_time) each.watchdog = watchdog_.get();
    if (shared_ != nullptr) each.shared = shared_.get();
}

void crew::share() {
    shared_ = std::make_unique<stealing>();
    shared_->enlist(*first_);
    for (auto& each : members_) shared_->enlist(*each.loop);
}

void crew::begin() {
    if (how_ == run_by::threads) return begin_threads();
    for (std::uint32_t number = 1; number < options_.workers; ++number) {
        make(members_.emplace_back(number));
        all_.push_back(members_.back().loop.get());
    }
}

void crew::begin_threads() {
    for (std::uint32_t number = 1; number < options_.workers; ++number) {
        auto& each = members_.emplace_back(number);
        try {
            each.thread = std::thread([this, &each] { serve(each); });
        } catch (...) {
            members_.pop_back();
            throw;
        }
    }
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return begun_ == members_.size(); });
    for (auto& each : members_) {
        if (each.failure != nullptr) std::rethrow_exception(each.failure);
        all_.push_back(each.loop.get());
    }
}

void crew::give_up() noexcept {
    tell(phase::given_up);
    for (auto& each : members_)
        if (each.thread.joinable()) each.thread.join();
}

void crew::tell(phase const next) noexcept {
    {
        std::lock_guard const lock(mutex_);
        phase_ = next;
    }
    changed_.notify_all();
}

void crew::serve(member& one) noexcept {
    try {
        settle(one);
        make(one);
        if (options_.on_thread_start) options_.on_thread_start(one.number);
    } catch (...) {
        one.failure = std::current_exception();
    }
    if (wait_for_the_others()) {
        exchange_current_executor(one.loop.get());
        one.loop->run(one.is_over);
        wait_for_all_ends();
    }
    one.loop.reset();
    exchange_current_executor(nullptr);
}

void crew::settle(member const& one) {
    set_thread_name(options_.thread_name.substr(0, 15 - 1 - std::to_string(one.number).size()) + "-" +
                    std::to_string(one.number));
    // A thread inherits the mask of the one that starts it, which may be a pinned worker.
    if (auto const cpu = cpu_of(one.number))
        pin(*cpu);
    else if (unpinned_.bits != cpu_mask().bits)
        (void)set_cpu_mask(unpinned_);
}

void crew::make(member& one) {
    auto options = options_;
    options.is_closed_world = false; // to have nothing to do is no deadlock here
    one.loop = std::make_unique<worker>(make_driver_(one.number), std::move(options));
}

bool crew::wait_for_the_others() noexcept {
    std::unique_lock lock(mutex_);
    ++begun_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return phase_ != phase::beginning; });
    return phase_ == phase::running;
}

void crew::wait_for_all_ends() noexcept {
    std::unique_lock lock(mutex_);
    ++ended_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return ended_ == members_.size(); });
}

auto crew::cpu_of(std::uint32_t const number) const noexcept -> std::optional<std::uint32_t> {
    if (options_.cpus.empty()) return std::nullopt;
    return options_.cpus[number % options_.cpus.size()];
}

void crew::end_loop(void* const where) { static_cast<member*>(where)->is_over = true; }

} // namespace pitsaw::inline v0
