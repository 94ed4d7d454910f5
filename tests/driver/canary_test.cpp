#include "driver/broken_descriptors.hpp"
#include "driver/broken_operations.hpp"
#include "driver/law_loop.hpp"
#include "driver/laws.hpp"
#include "driver/sim_subject.hpp"

/// Drivers that are broken on purpose: each law must notice the one that breaks it, or it shows nothing.
namespace pitsaw::laws {
namespace {

struct canary {
    int law_number;
    char const* name;
    finding (*law)(law_subject&);
    sim_subject::wrapper breaks;

    friend void PrintTo(canary const& which, std::ostream* to) { *to << which.name; }
};

template <class Broken> auto breaking(int number, char const* name, finding (*law)(law_subject&)) -> canary {
    return {number, name, law,
            [](sim_driver& sim) -> std::unique_ptr<driver> { return std::make_unique<Broken>(sim); }};
}

class canaries : public ::testing::TestWithParam<canary> {};

TEST_P(canaries, is_noticed) {
    // A seed under which cancels come late and attempts fail, for some breakers need that; found without the
    // breaker as well, so that it is the breaker which is noticed.
    auto options = sim_driver_options{.seed = 11};
    sim_subject sound(options);
    EXPECT_EQ(GetParam().law(sound), "");
    sim_subject broken(options, GetParam().breaks);
    auto const found = GetParam().law(broken);
    EXPECT_TRUE(found.starts_with(text("law ", GetParam().law_number, ":"))) << "found: " << found;
    RecordProperty("found", found);
}

auto all() -> std::vector<canary> {
    using namespace broken;
    return {
        breaking<loses_final_events>(1, "loses_final_events", each_operation_has_one_final_event),
        breaking<doubles_final_events>(1, "doubles_final_events", each_operation_has_one_final_event),
        breaking<forgets_the_more_flag>(1, "forgets_the_more_flag",
                                        multishot_events_but_the_last_are_flagged_more),
        breaking<writes_after_the_final_event>(2, "writes_after_the_final_event",
                                               nothing_writes_after_the_final_event),
        breaking<loses_cancels>(3, "loses_cancels", cancel_is_never_lost),
        breaking<cancels_the_whole_queue>(3, "cancels_the_whole_queue", cancel_in_a_queue_leaves_the_others),
        breaking<cancels_what_is_in_the_span>(3, "cancels_what_is_in_the_span",
                                              cancel_after_the_final_event_is_harmless),
        breaking<cancel_chooses_the_result<op_code::receive>>(3, "cancel_drops_received_bytes",
                                                              cancelled_receives_lose_no_bytes),
        breaking<cancel_chooses_the_result<op_code::send>>(3, "cancel_hides_sent_bytes",
                                                           cancelled_sends_report_what_was_sent),
        breaking<cancel_chooses_the_result<op_code::accept>>(4, "cancel_drops_a_handle",
                                                             cancelled_accepts_lose_no_connection),
        breaking<calls_back_in_submit>(5, "calls_back_in_submit", callbacks_run_only_in_the_loop),
        breaking<calls_back_in_poll>(5, "calls_back_in_poll", callbacks_run_only_in_the_loop),
        breaking<returns_early>(6, "returns_early", poll_is_never_early),
        breaking<lets_would_block_out>(6, "lets_would_block_out", results_are_clean),
        breaking<reports_more_than_arrived>(6, "reports_more_than_arrived", results_are_clean),
        breaking<refuses_when_full>(7, "refuses_when_full", submit_never_fails),
        breaking<drops_what_does_not_fit>(8, "drops_what_does_not_fit", completions_beyond_the_span_are_kept),
        breaking<writes_beyond_the_span>(8, "writes_beyond_the_span", completions_beyond_the_span_are_kept),
        breaking<does_not_translate>(9, "does_not_translate", errors_are_translated),
        breaking<lets_stale_cancels_through>(10, "lets_stale_cancels_through", stale_cancels_reach_nobody),
        breaking<ignores_generations>(10, "ignores_generations", stale_descriptors_reach_nobody),
        breaking<closes_first>(12, "closes_first", close_ends_every_other_operation_first),
        breaking<closes_without_the_rest>(12, "closes_without_the_rest",
                                          close_ends_every_other_operation_first),
        breaking<closes_before_the_bytes_are_out>(12, "closes_before_the_bytes_are_out",
                                                  close_lets_sent_bytes_arrive),
        breaking<detaches_and_forgets_the_bytes>(11, "detaches_and_forgets_the_bytes",
                                                 a_detached_object_is_attached_again),
        breaking<detaches_under_an_operation>(11, "detaches_under_an_operation",
                                              a_detached_object_is_attached_again),
        breaking<forgets_discards>(12, "forgets_discards", discard_closes),
        breaking<last_in_first_out>(13, "receives_last_in_first_out", receives_end_in_order),
        breaking<last_in_first_out>(13, "sends_last_in_first_out", sends_and_shutdown_go_out_in_order),
        breaking<attempts_overtake>(13, "attempts_overtake", attempt_does_not_overtake),
        breaking<one_queue_for_both_directions>(13, "one_queue_for_both_directions",
                                                directions_do_not_wait_for_each_other),
        breaking<ignores_wakes>(14, "ignores_wakes", wake_before_poll_is_kept),
        breaking<never_forgets_a_wake>(6, "never_forgets_a_wake", wake_before_poll_is_kept),
        breaking<drains_nothing>(15, "drains_nothing", drain_ends_everything),
        breaking<drain_names_nobody>(15, "drain_names_nobody", drain_ends_everything),
    };
}

INSTANTIATE_TEST_SUITE_P(each, canaries, ::testing::ValuesIn(all()),
                         [](auto const& which) { return which.param.name; });

TEST(canary, an_event_that_arrives_elsewhere_is_noticed) {
    std::vector<broken::sends_events_elsewhere::stray> pool;
    auto const share = [&](sim_driver& sim) -> std::unique_ptr<driver> {
        return std::make_unique<broken::sends_events_elsewhere>(sim, pool);
    };
    sim_subject one({}, share);
    sim_subject other({}, share);
    auto const found = events_arrive_home(one, other);
    EXPECT_TRUE(found.starts_with("law 11:")) << "found: " << found;
}

} // namespace
} // namespace pitsaw::laws
