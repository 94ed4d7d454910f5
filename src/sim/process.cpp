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
                                    sim_driver*& made, fault_driver*& front) {
    auto how = in.options.is_calm ? sim_driver_options::calm() : sim_driver_options();
    how.seed = in.seed_for(seeds_of_processes + in.processes_made++);
    how.faults = in.options.faults;
    auto driver = std::make_unique<sim_driver>(how, &observer, in.network, on);
    made = driver.get();
    auto before = std::make_unique<fault_driver>(std::move(driver));
    front = before.get();
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
    explicit turn(process& of) noexcept
        : of_(of), before_(exchange_current_executor(&of.rt.loop())),
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
    : name(std::move(called)), rt(make_driver(in, on, *this, net, front), in_a_closed_world(std::move(with))),
      world_(in), disk_(machines) {
    rt.loop().guide = this;
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
    net->cut_off();
}

bool process::is_over() const noexcept {
    return has_ended_ && rt.loop().abandoned == 0 && net->statistics().in_flight == 0;
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
    if (is_ghost_) return next_at() != never || net->is_due();
    if (world_.network.now() < paused_until) return false;
    return rt.loop().next_step_at() <= world_.network.now() || net->is_due() ||
           front->next_failure_at() <= world_.network.now();
}

time_point process::next_at() noexcept {
    return std::max(std::min({rt.loop().next_step_at(), net->next_step_at(), front->next_failure_at()}),
                    paused_until);
}

void process::step() noexcept {
    turn const mine(*this);
    if (is_ghost_) net->skip_to(next_at());
    watched_again const programs;
    rt.loop().step(program_ == nullptr ? has_ended_ : program_->is_done());
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
