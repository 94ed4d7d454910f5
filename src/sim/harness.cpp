#include "sim/harness.hpp"

#include "sim/world_parts.hpp"
#include "task/allocation_watch.hpp"

#include <pitsaw/base/check.hpp>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace pitsaw::inline v0::sim {

namespace {

// A signal handler is told nothing but the signal, so that it has to find the words by itself.
std::atomic<last_words*> words_of_the_process = nullptr;

std::uint64_t ten_times(std::uint64_t const turns) noexcept {
    auto const max = std::numeric_limits<std::uint64_t>::max();
    return turns > max / 10 ? max : turns * 10;
}

} // namespace

last_words::last_words(char const* const harness)
    : before_(std::signal(SIGABRT, aborting)), outer_(words_of_the_process.exchange(this)),
      harness_(harness) {}

last_words::~last_words() {
    words_of_the_process = outer_;
    std::signal(SIGABRT, before_);
}

void last_words::set(std::string what) { text_ = std::move(what); }

// The C library aborts amid its own work too (a damaged heap), with locks that printing would wait for, and a
// signal from outside comes anywhere: here is nothing but write(2) and what ends the process, which such a
// signal would not do once it has been handled.
void last_words::aborting(int) {
    std::signal(SIGABRT, SIG_DFL);
    std::raise(SIGABRT); // it waits until this handler returns
    auto const* const self = words_of_the_process.load();
    if (self == nullptr || self->text_.empty()) return;
    for (std::string_view each : {std::string_view(self->harness_), std::string_view(": aborted in "),
                                  std::string_view(self->text_), std::string_view("\n")})
        while (!each.empty()) {
            auto const count = ::write(STDERR_FILENO, each.data(), each.size());
            if (count <= 0) return;
            each.remove_prefix(static_cast<std::size_t>(count));
        }
}

harness_run::harness_run(char const* const name, world_options const& in, harness_options const& options)
    : name_(name), is_calm_(in.is_calm), options_(options), words_(name), world_(in),
      place_{.world = world_} {
    loop().observer = this;
}

harness_run::~harness_run() { loop().observer = nullptr; }

process& harness_run::own() noexcept { return world_.parts_->own; }

void harness_run::know_more() {
    unwatched_allocations const own;
    words_.set(describe());
}

std::string harness_run::describe_world() const {
    return is_calm_ ? "calm world" : "seed " + std::to_string(world_.seed());
}

run_ending harness_run::run_to_the_end(run_body const& body) {
    know_more();
    for (auto* const each : options_.books) each->clear();
    auto const ending = body(place_);
    unwatched_allocations const of_the_world; // those of the nodes' programs are heard of all the same
    world_.run();
    return ending;
}

std::string harness_run::wrong(bool const is_disturbed) const {
    auto found = world_.leftovers();
    if (!is_disturbed) append_wrong(found, world_.failures());
    for (auto const* const each : options_.books) append_wrong(found, each->imbalance());
    return found;
}

void harness_run::before_delivery(std::uint64_t const turn) noexcept {
    if (turn > options_.turns_max) end_the_process("goes on without an end");
}

void harness_run::on_deadlock() noexcept { end_the_process("never ends: every task waits"); }

void harness_run::end_the_process(char const* const what) noexcept {
    unwatched_allocations const own;
    std::fprintf(stderr, "%s: %s, %s\n%s\n", name_, describe().c_str(), what, world_.rerun().c_str());
    words_.set(""); // it has been said
    std::abort();
}

void harness_run::write(harness_report& report, remains const& of) {
    ++report.runs_;
    if (of.wrong.empty()) return;
    if (report.failures_.empty()) report.rerun_ = rerun_of(of.seed, of.steps);
    report.failures_ += of.described + ": " + of.wrong + "\n";
}

void harness_run::print(char const* const name, harness_report const& report) {
    if (report) return;
    std::fprintf(stderr, "%s: %s%s\n", name, report.failures_.c_str(), report.rerun_.c_str());
}

std::vector<world_options> harness_run::worlds(harness_options const& options) {
    check(options.points_max != 0, "options.points_max is 0: a harness disturbs one point at least");
    std::vector<world_options> all;
    for (std::uint64_t nth = 0; nth <= options.seeds; ++nth) {
        world_options one;
        // The calm one has the first seed, so that the command which runs it again finds the others too.
        one.seed = options.first_seed + (nth == 0 ? 0 : nth - 1);
        one.is_calm = nth == 0;
        one.pool_buffers = options.pool_buffers;
        one.steps_max = ten_times(options.turns_max);
        all.push_back(one);
    }
    return all;
}

} // namespace pitsaw::inline v0::sim
