#include "loop/crew.hpp"

#include "os/linux/thread_name.hpp"

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>

namespace pitsaw::inline v0 {

static_assert(runtime_options::stealing_workers_max == idle_workers::workers_max);

namespace {

[[noreturn]] void refuse(char const* const why) {
    throw std::system_error(std::make_error_code(std::errc::invalid_argument), why);
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

crew::crew(runtime::driver_maker const& make_driver, runtime_options options)
    : options_(possible(std::move(options))), make_driver_(make_driver), blocking_(options_.blocking) {
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
    for (auto* const each : all_) {
        each->workers = all_;
        each->blocking = &blocking_;
        if (is_pinned) each->unpinned = &unpinned_;
    }
    if (!members_.empty()) tell(phase::running);
}

crew::~crew() {
    check(!first_->is_running(),
          "a runtime was destroyed by work that runs on it: let its sync_wait return first");
    for (auto& each : members_) each.loop->post_from_any_thread(each.end_node, resume_as::callback);
    for (auto& each : members_) each.thread.join();
    check(
        shared_ == nullptr || !shared_->is_open(),
        "a runtime was destroyed with work that had not ended: a child that was spawned for anywhere waits");
}

void crew::share() {
    shared_ = std::make_unique<stealing>();
    auto const enlist = [this](worker& each, std::uint32_t const number) {
        shared_->enlist(each);
        each.shared = shared_.get();
        each.number = number;
    };
    enlist(*first_, 0);
    for (auto& each : members_) enlist(*each.loop, each.number);
}

void crew::begin() {
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
    for (auto& each : members_) each.thread.join();
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
        make(one);
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

void crew::make(member& one) {
    set_thread_name(options_.thread_name.substr(0, 15 - 1 - std::to_string(one.number).size()) + "-" +
                    std::to_string(one.number));
    // A thread inherits the mask of the one that starts it, which may be a pinned worker.
    if (auto const cpu = cpu_of(one.number))
        pin(*cpu);
    else if (unpinned_.bits != cpu_mask().bits)
        (void)set_cpu_mask(unpinned_);
    auto options = options_;
    options.is_closed_world = false; // to have nothing to do is no deadlock here
    one.loop = std::make_unique<worker>(make_driver_(one.number), std::move(options));
    if (options_.on_thread_start) options_.on_thread_start(one.number);
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
