#include "sim/process.hpp"

#include "sim/report_words.hpp"
#include "sim/world_parts.hpp"
#include "task/allocation_watch.hpp"

#include <pitsaw/task/promise_header.hpp>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <utility>

namespace pitsaw::inline v0::sim {

namespace {

std::unique_ptr<driver> make_driver(world::parts& in, sim_host const on, sim_observer& observer,
                                    std::vector<process::seat>& seats) {
    auto how = in.options.is_calm ? sim_driver_options::calm() : sim_driver_options();
    how.seed = in.seed_for(seeds_of_processes + in.processes_made++);
    how.faults = in.options.faults;
    auto driver = std::make_unique<sim_driver>(how, &observer, in.network, on);
    auto* const made = driver.get();
    auto before = std::make_unique<fault_driver>(std::move(driver));
    seats.push_back({made, before.get()});
    return before;
}

runtime_options in_a_closed_world(runtime_options with) {
    with.is_closed_world = true;
    return with;
}

} // namespace

/// Its worker is the thread's current one for a while, and the disk of its machine is out of a ghost's reach.
class process::turn {
  public:
    explicit turn(process& of, std::uint32_t worker = 0) noexcept
        : of_(of), before_(exchange_current_executor(&of.rt.loop(worker))),
          running_before_(of.world_.exchange_running(&of)) {
        if (of_.is_ghost_) of_.disk_->set_reachable(false);
    }
    turn(turn&&) = delete;
    ~turn() {
        if (of_.is_ghost_) of_.disk_->set_reachable(true);
        of_.world_.exchange_running(running_before_);
        exchange_current_executor(before_);
    }

  private:
    process& of_;
    executor* before_;
    process* running_before_;
};

process::process(world::parts& in, sim_host const on, std::string called, runtime_options with,
                 disk* const machines)
    : name(std::move(called)),
      rt(
          runtime::by_steps(), [&](std::uint32_t) { return make_driver(in, on, *this, seats); },
          in_a_closed_world(std::move(with))),
      world_(in), disk_(machines) {
    for (std::uint32_t worker = 0; worker < rt.worker_count(); ++worker) rt.loop(worker).guide = this;
    env_ = environment{rt.get_executor(), rt.loop().stop.get_token(), nullptr, rt.loop().local};
}

process::~process() = default;

void process::start(std::function<std::unique_ptr<program>()> const& make) {
    turn const mine(*this);
    own_program_ = make();
    start(*own_program_);
}

void process::start(program& what) noexcept {
    turn const mine(*this);
    program_ = &what;
    rt.loop().root = &what.edge();
    what.start(env_);
}

void process::stop() noexcept {
    turn const mine(*this);
    rt.request_stop(stop_reason::shutdown);
}

void process::become_a_ghost() noexcept {
    is_ghost_ = true;
    paused_until = time_point::min();
    stop(); // first, so that what can be stopped ends as stopped
    for (auto const& each : seats) each.net->cut_off();
}

bool process::is_over() const noexcept {
    if (!has_ended_) return false;
    for (std::uint32_t worker = 0; worker < rt.worker_count(); ++worker) {
        auto const& loop = rt.loop(worker);
        if (loop.abandoned != 0 || seats[worker].net->statistics().in_flight != 0) return false;
        // Another than the first goes on until nothing is left for it.
        if (worker != 0 && (loop.next_step_at() != never || seats[worker].net->is_due())) return false;
    }
    return true;
}

bool process::is_awaited_by_others() const noexcept {
    for (std::uint32_t worker = 0; worker < rt.worker_count(); ++worker)
        if (rt.loop(worker).foreign != 0) return true;
    return false;
}

void process::forget_program() noexcept {
    rt.loop().root = nullptr;
    program_ = nullptr;
}

std::string process::end() {
    turn const mine(*this);
    forget_program();
    has_ended_ = true;
    auto const ended = std::exchange(own_program_, nullptr);
    return ended->failure(); // the frame goes while its worker is the current one
}

bool process::is_due() noexcept {
    if (!is_ghost_ && world_.network.now() < paused_until) return false;
    for (std::uint32_t worker = 0; worker < rt.worker_count(); ++worker)
        if (is_due(worker)) return true;
    return false;
}

bool process::is_due(std::uint32_t const worker) noexcept {
    if (is_ghost_) return next_at(worker) != never || seats[worker].net->is_due();
    return rt.loop(worker).next_step_at() <= world_.network.now() || seats[worker].net->is_due() ||
           seats[worker].front->next_failure_at() <= world_.network.now();
}

time_point process::next_at() noexcept {
    auto first = never;
    for (std::uint32_t worker = 0; worker < rt.worker_count(); ++worker)
        first = std::min(first, next_at(worker));
    return std::max(first, paused_until);
}

time_point process::next_at(std::uint32_t const worker) noexcept {
    return std::min({rt.loop(worker).next_step_at(), seats[worker].net->next_step_at(),
                     seats[worker].front->next_failure_at()});
}

/// One that is due; by the world's choice, if there are several workers at all.
std::uint32_t process::whose_turn() noexcept {
    auto const count = rt.worker_count();
    if (count == 1) return 0;
    auto const first = static_cast<std::uint32_t>(world_.choices.below(count));
    auto which = first;
    if (is_ghost_) { // its time is its own: who is next
        for (std::uint32_t i = 0; i < count; ++i)
            if (seats[(first + i) % count].net->is_due() || next_at((first + i) % count) < next_at(which))
                which = (first + i) % count;
        return which;
    }
    for (std::uint32_t i = 0; i < count && !is_due(which); ++i) which = (first + i) % count;
    return which;
}

void process::step() noexcept {
    auto const worker = whose_turn();
    turn const mine(*this, worker);
    // One that was woken, and waits for no time, has none to skip.
    if (auto const next = next_at(worker); is_ghost_ && next != never) seats[worker].net->skip_to(next);
    watched_again const programs;
    bool const is_done = worker == 0 && (program_ == nullptr ? has_ended_ : program_->is_done());
    bool const& until = program_ != nullptr && worker == 0 ? program_->is_done() : is_done;
    rt.loop(worker).step(until);
}

auto process::cancel_takes(operation const& op) noexcept -> std::optional<duration> {
    return cancel_time ? cancel_time(op) : std::nullopt;
}

void process::woken() noexcept { world_.woken(); }

void process::delivered(event const& what) noexcept {
    if (!world_.is_traced) return;
    // Not the descriptor's generation: it is another one in each process.
    std::fprintf(stderr, "%s%s on %u: ", world_.begin_line(name).c_str(), pitsaw::name(what.op->code).data(),
                 static_cast<unsigned>(what.op->target.index));
    if (what.result >= 0)
        std::fprintf(stderr, "%" PRId32 "%s\n", what.result, what.is_final() ? "" : ", and more");
    else
        std::fprintf(stderr, "%s\n", to_error(what.result).message().c_str());
}

void process::check_failed() noexcept { std::fprintf(stderr, "%s\n", world_.self.rerun().c_str()); }

void process::resumes(continuation& next, resume_as const how) noexcept {
    if (how == resume_as::callback || !world_.is_traced) return;
    auto const sites = await_sites(static_cast<promise_header const*>(&next));
    std::fprintf(stderr, "%s%s%s%s\n", world_.begin_line(name).c_str(),
                 how == resume_as::stopped ? "stops" : "resumes", sites.empty() ? "" : " ", sites.c_str());
}

} // namespace pitsaw::inline v0::sim
