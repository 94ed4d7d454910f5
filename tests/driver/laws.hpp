#pragma once
#include "driver/law_subject.hpp"

#include <gtest/gtest.h>

#include <string>

namespace pitsaw::laws {

/// The laws of io/driver.hpp as checks of the interface. Each returns what it found broken, or nothing.
///
/// They are functions and no tests, so that canary_test.cpp can hold drivers that are broken on purpose
/// against them: a check that never fails shows nothing.
using finding = std::string;

// 1
auto each_operation_has_one_final_event(law_subject& subject) -> finding;
auto multishot_events_but_the_last_are_flagged_more(law_subject& subject) -> finding;
// 2
auto nothing_writes_after_the_final_event(law_subject& subject) -> finding;
// 3
auto cancel_is_never_lost(law_subject& subject) -> finding;
auto cancel_in_a_queue_leaves_the_others(law_subject& subject) -> finding;
auto cancel_after_the_final_event_is_harmless(law_subject& subject) -> finding;
auto cancelled_receives_lose_no_bytes(law_subject& subject) -> finding;
auto cancelled_sends_report_what_was_sent(law_subject& subject) -> finding;
// 4
auto cancelled_accepts_lose_no_connection(law_subject& subject) -> finding;
// 5
auto callbacks_run_only_in_the_loop(law_subject& subject) -> finding;
// 6
auto poll_is_never_early(law_subject& subject) -> finding;
auto results_are_clean(law_subject& subject) -> finding;
// 7
auto submit_never_fails(law_subject& subject) -> finding;
// 8
auto completions_beyond_the_span_are_kept(law_subject& subject) -> finding;
// 9
auto errors_are_translated(law_subject& subject) -> finding;
// 10
auto stale_cancels_reach_nobody(law_subject& subject) -> finding;
auto stale_descriptors_reach_nobody(law_subject& subject) -> finding;
// 11
auto events_arrive_home(law_subject& subject, law_subject& other) -> finding;
auto a_detached_object_is_attached_again(law_subject& subject) -> finding;
// 12
auto close_ends_every_other_operation_first(law_subject& subject) -> finding;
auto close_lets_sent_bytes_arrive(law_subject& subject) -> finding;
auto discard_closes(law_subject& subject) -> finding;
auto reset_comes_after_the_bytes_before_it(law_subject& subject) -> finding;
// 13
auto receives_end_in_order(law_subject& subject) -> finding;
auto sends_and_shutdown_go_out_in_order(law_subject& subject) -> finding;
auto attempt_does_not_overtake(law_subject& subject) -> finding;
auto directions_do_not_wait_for_each_other(law_subject& subject) -> finding;
// 14
auto wake_before_poll_is_kept(law_subject& subject) -> finding;
auto wake_during_poll_ends_it(law_subject& subject) -> finding;
auto no_wake_of_many_threads_is_lost(law_subject& subject) -> finding;
// 15
auto drain_ends_everything(law_subject& subject) -> finding;
// 16
auto pooled_receives_take_a_buffer_when_ready(law_subject& subject) -> finding;
auto an_empty_pool_leaves_the_bytes(law_subject& subject) -> finding;
auto multishot_receives_bring_every_byte(law_subject& subject) -> finding;
auto cancelled_multishot_receives_lose_no_bytes(law_subject& subject) -> finding;
auto wrong_pools_are_refused(law_subject& subject) -> finding;
// what single operations and commands do
auto watch_sees_the_peer_finish(law_subject& subject) -> finding;
auto watch_sees_the_connection_break(law_subject& subject) -> finding;
auto watch_needs_a_connection(law_subject& subject) -> finding;
auto vectored_sends_keep_the_order(law_subject& subject) -> finding;
auto socket_commands_tell_addresses(law_subject& subject) -> finding;
auto look_for_input_tells_what_a_receive_would_end_with(law_subject& subject) -> finding;
auto operations_wait_behind_a_connect(law_subject& subject) -> finding;
// what is asked of the wrong object
auto accept_needs_a_listener(law_subject& subject) -> finding;
auto a_listener_is_no_stream(law_subject& subject) -> finding;
auto connect_connects_once(law_subject& subject) -> finding;
auto close_ends_with_0(law_subject& subject) -> finding;
auto attach_owns_the_handle(law_subject& subject) -> finding;
auto bind_tells_nothing(law_subject& subject) -> finding;
auto commands_on_a_stale_descriptor_are_refused(law_subject& subject) -> finding;

/// One test of each law, for each case of `driver_cases`.
class driver_laws : public ::testing::TestWithParam<driver_case> {
  protected:
    [[nodiscard]] static auto make() -> std::unique_ptr<law_subject> { return GetParam().make(); }
    static void expect(finding (*law)(law_subject&)) {
        auto const subject = make();
        EXPECT_EQ(law(*subject), "");
    }
};

} // namespace pitsaw::laws
