#pragma once
#include "sim_subjects/conversations.hpp"
#include "sim_subjects/primitives.hpp"
#include "sim_subjects/scopes.hpp"
#include "sim_subjects/streams.hpp"

#include <chrono>

/// All of them, and how a harness runs them.
namespace pitsaw::testing::subjects {

inline constexpr subject of_one_task[] = {
    {"sleep", sleeps},
    {"sleep_until", sleeps_until},
    {"interval", ticks},
    {"yield", yields},
    {"checkpoint", passes_checkpoints},
    {"blocking", blocks},
    {"compute", computes},
    {"when_all", all},
    {"when_any", any_first},
    {"when_any_in_the_other_order", any_last},
    {"with_timeout", in_time},
    {"with_timeout_that_fires", too_late},
    {"with_deadline", by_a_deadline},
    {"shield", masked},
    {"with_executor", elsewhere},
    {"strand", in_turn},
    {"spawn_on", child_of_a_named_worker},
    {"on_each_worker", everywhere},
    {"with_memory", with_other_memory},
    {"with_priority", by_priority},
    {"with_name", under_a_name},
    {"unconstrained", unbounded},
    {"as_outcome", as_data},
    {"or_return", unwraps},
    {"at_exit", cleans_up},
    {"with", with_a_resource},
    {"async_generator", generates},
    {"in", in_a_foreign_coroutine},
    {"nested", nested},
    {"room", waits_for_room},
    {"keep_others", keeps_the_others},
    {"portal", through_a_portal},
    {"semaphore", takes_permits},
    {"semaphore_in_when_any", takes_either},
    {"mutex", locks},
    {"shared_mutex", reads_and_writes},
    {"manual_reset_event", passes_a_gate},
    {"auto_reset_event", takes_turns},
    {"latch", waits_for_all},
    {"barrier", goes_in_step},
    {"condition", waits_for_orders},
    {"once", does_it_once},
    {"send", talk<send_some, receive_leases>},
    {"send_pieces", talk<send_pieces, receive_into_memory>},
    {"send_all", talk<send_whole, receive_into_a_vector>},
    {"send_all_pieces", talk<send_whole_pieces, receive_leases>},
    {"read_exactly", talk<send_whole, read_exactly>},
    {"read_line", talk<send_whole, read_lines>},
    {"read_until", talk<send_whole, read_until>},
    {"copy", copies},
    {"closed", sees_the_end},
    {"async_close", closes},
    {"connect_and_accept", connects},
    {"accept", accepts_for_a_while},
    {"any_stream", erased},
    {"receive_in_when_any", receives_or_gives_up},
};
/// Longer ones, for which a harness may take fewer points.
inline constexpr subject of_many_tasks[] = {
    {"a_hundred_children", a_hundred_children},
    {"http_get", over_http<gets>},
    {"http_post", over_http<posts>},
    {"http_upload", over_http<uploads_a_stream>},
    {"http_stream", over_http<reads_a_stream>},
};

/// The subject once, as a harness runs it.
inline task<> run(subject const& what, surroundings& at) {
    auto const end = co_await what.body(at);
    at.is_whole = end.has_value();
}
/// The same under timeouts that fire at once, in the middle, and not at all.
inline task<> run_under_timeouts(subject const& what, surroundings& at) {
    for (auto const span : {20us, 1500us}) {
        auto const end = co_await with_timeout(span, what.body(at));
        (void)end;
    }
    auto const end = co_await with_timeout(1h, what.body(at));
    at.is_whole = end.has_value();
}

} // namespace pitsaw::testing::subjects
