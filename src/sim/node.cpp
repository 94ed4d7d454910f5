#include <pitsaw/sim/node.hpp>

#include "sim/world_parts.hpp"

#include <pitsaw/base/check.hpp>
#include <pitsaw/time/sleep.hpp>

#include <algorithm>
#include <exception>
#include <system_error>

namespace pitsaw::inline v0::sim {

std::string describe(std::exception_ptr const& failure) {
    try {
        std::rethrow_exception(failure);
    } catch (std::exception const& what) {
        return what.what();
    } catch (...) {
        return "an exception of an unknown type";
    }
}

node::node(std::unique_ptr<node_parts> parts) : parts_(std::move(parts)) {}
node::~node() = default;

std::string const& node::name() const noexcept { return parts_->name; }

runtime& node::get_runtime() const {
    check(is_running(), "node::get_runtime: it does not run");
    return parts_->present->rt;
}

node_address node::at(std::uint16_t const port) const noexcept {
    node_address here{parts_->in.parts_->network.address_of(parts_->host)};
    here.port = port;
    return here;
}

bool node::is_running() const noexcept { return parts_->present != nullptr; }
std::uint64_t node::lives() const noexcept { return parts_->lives; }
time_point node::ended_at() const noexcept { return parts_->ended_at; }
std::string const& node::failure() const noexcept { return parts_->failure; }

disk& node::get_disk() noexcept { return parts_->own_disk; }

void node::stop() noexcept {
    if (is_running()) parts_->present->stop();
}

void node::kill(death const how) { parts_->in.parts_->kill(*this, how); }

task<> node::crash(death const how) {
    kill(how);
    if (parts_->in.parts_->runs_now(*parts_)) co_await sleep_until(never); // the end of this turn is the end
}

void node::restart() { parts_->in.parts_->begin(*this); }

void node::pause(duration const span) {
    if (!is_running()) return;
    auto& until = parts_->present->paused_until;
    until = std::max(until, saturating_add(parts_->in.parts_->network.now(), span));
}

} // namespace pitsaw::inline v0::sim
