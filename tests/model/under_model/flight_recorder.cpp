#include "loop/flight_recorder.hpp"

#include <pitsaw/executor/executor_ref.hpp>
#include <pitsaw/task/promise_header.hpp>

namespace pitsaw::inline v0 {

// Under the model nothing is recorded: each store of a ring would be a step that others may come between.

auto make_flight_recorder(recorder_options const&, driver const&) noexcept
    -> std::unique_ptr<flight_recorder> {
    return nullptr;
}

auto with_inputs_recorded(std::unique_ptr<driver> own, flight_recorder*) -> std::unique_ptr<driver> {
    return own;
}

flight_recorder::~flight_recorder() = default;
auto flight_recorder::image() const noexcept -> std::span<std::byte const> { return {}; }
void executor::record_attempt(event const&) const noexcept {}
std::coroutine_handle<> promise_header::record_and_go_on(ending const how) noexcept {
    return edge->child_ended(*edge, *this, how);
}

} // namespace pitsaw::inline v0
