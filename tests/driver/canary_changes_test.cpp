#include "driver/altered.hpp"
#include "driver/law_loop.hpp"
#include "driver/laws.hpp"
#include "driver/sim_subject.hpp"

#include <algorithm>
#include <memory>

/// As canary_test.cpp: what the laws of pools, watches, vectored sends, commands and wrong objects assert,
/// each held against a driver that breaks it. A canary names the finding that it has to cause.
namespace pitsaw::laws {
namespace {

using broken::changes;

struct changed_canary {
    char const* name;
    finding (*law)(law_subject&);
    char const* finds; // what the finding begins with
    std::function<void(changes&)> breaks;

    friend void PrintTo(changed_canary const& which, std::ostream* to) { *to << which.name; }
};

constexpr auto code(std::errc error) -> std::int32_t { return -static_cast<std::int32_t>(error); }

auto is_pooled(event const& e) -> bool {
    return e.op->code == op_code::receive && has(e.op->options, op_option::pooled);
}
auto brings_buffer(event const& e) -> bool { return has(e.flags, event_flag::pooled); }

/// Events of `op`s that `which` holds for get this result.
auto result(std::function<bool(event const&)> which, std::int32_t value) -> std::function<void(changes&)> {
    return [=](changes& of) {
        of.events = [=](event& e) {
            if (which(e)) e.result = value;
            return true;
        };
    };
}
auto losing(std::function<bool(event const&)> which) -> std::function<void(changes&)> {
    return [=](changes& of) { of.events = [=](event& e) { return !which(e); }; };
}
auto change(std::function<void(event&)> how) -> std::function<void(changes&)> {
    return [=](changes& of) {
        of.events = [=](event& e) {
            how(e);
            return true;
        };
    };
}
auto on(op_code what) -> std::function<bool(event const&)> {
    return [=](event const& e) { return e.op->code == what; };
}
auto ends(op_code what, std::errc with) -> std::function<bool(event const&)> {
    return [=](event const& e) { return e.op->code == what && e.result == code(with); };
}
auto ignoring_cancels_of(std::function<bool(operation const&)> which) -> std::function<void(changes&)> {
    return [=](changes& of) { of.cancels = [=](operation& op) { return !which(op); }; };
}
auto is_pooled_operation(operation const& op) -> bool { return has(op.options, op_option::pooled); }
auto is_watch(operation const& op) -> bool { return op.code == op_code::watch; }

auto pool_canaries() -> std::vector<changed_canary> {
    auto const when_ready = pooled_receives_take_a_buffer_when_ready;
    auto const empty = an_empty_pool_leaves_the_bytes;
    auto const every_byte = multishot_receives_bring_every_byte;
    auto const refused = std::make_error_code(std::errc::not_enough_memory);
    return {
        {"lends_nothing", when_ready, "law 16: lend failed",
         [=](changes& of) { of.lends = [=](auto& lent) { lent = std::unexpected(refused); }; }},
        {"loses_pooled_events", when_ready, "law 16: a pooled receive never ended", losing(is_pooled)},
        {"holds_a_buffer_while_it_waits", when_ready,
         "law 16: with a free buffer a pooled receive ended with",
         result(brings_buffer, code(std::errc::no_buffer_space))},
        {"does_not_cancel_pooled", when_ready, "law 3: a pooled receive was not cancelled",
         ignoring_cancels_of(is_pooled_operation)},
        {"brings_no_buffer", when_ready, "law 16: a pooled receive brought bytes without a buffer",
         change([](event& e) { e.flags = event_flag::none; })},
        {"brings_a_buffer_of_nothing", empty, "law 4: a result without bytes brought a buffer",
         change([](event& e) {
             if (is_pooled(e) && e.result <= 0) e.flags = event_flag::pooled;
         })},
        {"names_no_buffer", when_ready, "law 16: an event names no buffer of its pool",
         change([](event& e) { e.buffer = broken::altered::no_buffer; })},
        {"always_the_same_buffer", every_byte, "law 16: a buffer is in two events at a time",
         change([](event& e) { e.buffer = 0; })},
        {"another_buffer", every_byte, "law 16: the buffer does not hold what was sent", change([](event& e) {
             if (brings_buffer(e)) e.buffer ^= 1U;
         })},
    };
}

auto empty_pool_canaries() -> std::vector<changed_canary> {
    auto const empty = an_empty_pool_leaves_the_bytes;
    return {
        {"an_idle_receive_ends_for_want_of_a_buffer", empty,
         "law 16: a pooled receive ended before there was something to receive",
         [](changes& of) {
             auto const pooled = std::make_shared<int>(0);
             of.submits = [=](operation& op) {
                 if (is_pooled_operation(op) && ++*pooled == 2) op.code = op_code::nop;
                 return true;
             };
         }},
        {"an_empty_pool_is_another_error", empty, "law 16: without a buffer a receive ended with",
         result(ends(op_code::receive, std::errc::no_buffer_space), code(std::errc::not_enough_memory))},
        {"an_empty_pool_loses_the_bytes", empty, "law 16: what an empty pool did not receive is lost",
         [](changes& of) {
             auto const was_empty = std::make_shared<bool>(false);
             of.events = [=](event& e) {
                 if (is_pooled(e) && *was_empty && e.result > 0) e.result = 0, e.flags = event_flag::none;
                 if (is_pooled(e) && e.result == code(std::errc::no_buffer_space)) *was_empty = true;
                 return true;
             };
         }},
        {"the_end_needs_a_buffer", empty, "law 16: the end of the stream in a pooled receive",
         result([](event const& e) { return is_pooled(e) && e.result == 0; },
                code(std::errc::no_buffer_space))},
    };
}

auto multishot_canaries() -> std::vector<changed_canary> {
    auto const every_byte = multishot_receives_bring_every_byte;
    auto const cancelled = cancelled_multishot_receives_lose_no_bytes;
    return {
        {"a_multishot_receive_fails", every_byte, "law 16: a multishot receive ended with",
         result(ends(op_code::receive, std::errc::no_buffer_space), code(std::errc::connection_reset))},
        {"stops_bringing", every_byte, "law 16: of 3000 bytes",
         [](changes& of) {
             auto const brought = std::make_shared<int>(0);
             of.events = [=](event& e) { return !is_pooled(e) || ++*brought < 40; };
         }},
        {"does_not_end_a_multishot", every_byte, "law 3: a cancelled multishot receive has no final event",
         ignoring_cancels_of(is_pooled_operation)},
        {"does_not_cancel_a_multishot", cancelled, "law 3: a cancel was lost",
         ignoring_cancels_of(is_pooled_operation)},
        {"a_cancel_drops_a_buffer", cancelled, "law 3: ", losing([seen = 0](event const& e) mutable {
             return brings_buffer(e) && !e.is_final() && ++seen == 9;
         })},
        {"takes_any_pool", wrong_pools_are_refused, "law 7: a receive of a pool that nobody lent ended with",
         result(is_pooled, 0)},
        {"lends_less_than_a_buffer", wrong_pools_are_refused,
         "law 16: memory of less than one buffer was taken for a pool",
         [](changes& of) { of.lends = [](auto& lent) { lent = std::uint16_t{0}; }; }},
    };
}

auto watch_canaries() -> std::vector<changed_canary> {
    auto const finish = watch_sees_the_peer_finish;
    auto const breaks = watch_sees_the_connection_break;
    auto const reset = [](op_code what) { return ends(what, std::errc::connection_reset); };
    return {
        {"a_watch_ends_with_data", finish, "a watch ended while the peer was still sending",
         [](changes& of) {
             of.submits = [](operation& op) {
                 if (is_watch(op)) op.code = op_code::nop;
                 return true;
             };
         }},
        {"a_watch_sees_nothing", finish, "a watch did not see that the peer finished",
         losing(on(op_code::watch))},
        {"a_watch_counts", finish, "a watch of a peer that finished ends with 0",
         result(on(op_code::watch), 1)},
        {"only_the_first_watches_see", finish, "a watch did not see what had happened before it",
         losing([seen = 0](event const& e) mutable { return is_watch(*e.op) && ++seen > 2; })},
        {"a_watch_takes_bytes", finish, "a watch took bytes", result(on(op_code::receive), 0)},
        {"a_finished_peer_counts_as_broken", finish,
         "a watch for a broken connection ended with a finished peer",
         [](changes& of) {
             of.submits = [](operation& op) {
                 if (is_watch(op)) op.options = op_option::none;
                 return true;
             };
         }},
        {"does_not_cancel_a_watch", finish, "law 3: a watch was not cancelled",
         ignoring_cancels_of(is_watch)},
        {"a_watch_hides_the_reset", breaks, "a watch of a broken connection",
         result(reset(op_code::watch), 0)},
        {"a_watch_takes_the_error", breaks, "after a watch, a receive", result(reset(op_code::receive), 0)},
        {"a_watch_of_nothing_waits", watch_needs_a_connection, "a watch of a socket that is not connected",
         losing(on(op_code::watch))},
        {"a_close_leaves_a_watch", watch_needs_a_connection, "law 12: a close did not end a watch first",
         losing(ends(op_code::watch, std::errc::operation_canceled))},
    };
}

using on_command = std::function<void(socket_command&, io_result<void>&)>;
auto after(socket_command::kind which, on_command how) -> std::function<void(changes&)> {
    return [=](changes& of) {
        of.controls = [=](socket_command& command, io_result<void>& done) {
            if (command.what == which) how(command, done);
        };
    };
}
void failing(socket_command&, io_result<void>& done) {
    done = std::unexpected(std::make_error_code(std::errc::io_error));
}
void succeeding(socket_command&, io_result<void>& done) { done = {}; }
void stale_is_fine(changes& of) {
    of.controls = [](socket_command&, io_result<void>& done) {
        if (!done && done.error() == std::errc::bad_file_descriptor) done = {};
    };
}

auto command_canaries() -> std::vector<changed_canary> {
    auto const tell = socket_commands_tell_addresses;
    auto const look = look_for_input_tells_what_a_receive_would_end_with;
    auto const vectored = vectored_sends_keep_the_order;
    return {
        {"a_vectored_send_fails", vectored, "a vectored send ended with", result(on(op_code::send), 0)},
        {"a_vectored_send_exaggerates", vectored, "a vectored send reports more than it was given",
         change([](event& e) {
             if (e.op->code == op_code::send) e.result += 1'000;
         })},
        {"pieces_are_mixed_up", vectored, "a vectored send mixed its pieces up",
         [](changes& of) {
             of.submits = [](operation& op) {
                 if (op.code != op_code::send || op.length < 2) return true;
                 auto* const pieces = static_cast<source_span*>(op.address);
                 std::reverse(pieces, pieces + op.length);
                 return true;
             };
         }},
        {"bind_fails", tell, "bind to a free port failed", after(socket_command::bind, failing)},
        {"listen_fails", tell, "listen failed", after(socket_command::listen, failing)},
        {"a_listener_has_no_port", tell, "the local address of a listener on a free port",
         after(socket_command::local_address, [](socket_command& c, auto&) { c.address.port = 0; })},
        {"a_port_is_taken_twice", tell, "law 9: bind to a port that is taken",
         after(socket_command::bind, succeeding)},
        {"anybody_has_a_peer", tell, "law 9: the peer of a socket that is not connected",
         after(socket_command::peer_address, succeeding)},
        {"the_peer_is_another", tell, "the server's peer is not the client's local address",
         after(socket_command::peer_address, [](socket_command& c, auto&) { ++c.address.port; })},
        {"a_second_connect_succeeds", tell, "law 9: a second connect ended with",
         result(ends(op_code::connect, std::errc::already_connected), 0)},
        {"options_fail", tell, "an option cannot be set", after(socket_command::set_option, failing)},
        {"input_is_always_there", look, "input is told where nothing has come",
         after(socket_command::look_for_input, [](socket_command& c, auto&) { c.value = 1; })},
        {"input_is_never_there", look, "bytes that came are not told",
         after(socket_command::look_for_input, [](socket_command& c, auto&) { c.value = 0; })},
        {"stale_commands_succeed", tell, "law 10: a command on a stale descriptor", stale_is_fine},
        {"a_connect_loses_what_waits", operations_wait_behind_a_connect, "law 1: a final event is missing",
         losing(on(op_code::send))},
        {"a_send_overtakes_its_connect", operations_wait_behind_a_connect,
         "law 13: a send behind its connect ended with",
         result(on(op_code::send), code(std::errc::broken_pipe))},
    };
}

auto wrong_object_canaries() -> std::vector<changed_canary> {
    return {
        {"a_stream_is_accepted_from", accept_needs_a_listener, "law 9: a accept on a new socket",
         result(on(op_code::accept), code(std::errc::not_connected))},
        {"an_accept_of_a_stream_waits", accept_needs_a_listener,
         "law 1: a accept on a new socket never ended", losing(on(op_code::accept))},
        {"a_listener_is_watched", a_listener_is_no_stream, "law 1: a watch on a listener never ended",
         losing(on(op_code::watch))},
        {"a_listener_is_received_from", a_listener_is_no_stream, "law 9: a receive on a listener",
         result(on(op_code::receive), 0)},
        {"connects_twice", connect_connects_once, "law 9: a connect of a connection",
         result(ends(op_code::connect, std::errc::already_connected), 0)},
        {"refused_for_ever", connect_connects_once, "law 9: after a refusal a connect ended with",
         result([](event const& e) { return e.op->code == op_code::connect && e.result == 0; },
                code(std::errc::connection_refused))},
        {"a_close_tells_of_errors", close_ends_with_0, "law 12: a close of a new socket ended with",
         result(on(op_code::close), code(std::errc::connection_reset))},
        {"attaches_anything", attach_owns_the_handle, "law 9: a handle of nothing was attached",
         [](changes& of) { of.opens = [](auto& made) { made = descriptor{9, 9}; }; }},
        {"bind_writes", bind_tells_nothing, "bind wrote to its command",
         after(socket_command::bind, [](socket_command& c, auto&) { c.address.port = 7; })},
        {"commands_the_stale", commands_on_a_stale_descriptor_are_refused,
         "law 10: a command on no descriptor", stale_is_fine},
    };
}

class changed_canaries : public ::testing::TestWithParam<changed_canary> {};

TEST_P(changed_canaries, is_noticed) {
    auto const options = sim_driver_options{.seed = 11};
    sim_subject sound(options);
    EXPECT_EQ(GetParam().law(sound), "");
    changes what;
    GetParam().breaks(what);
    sim_subject broken_one(options, [&](sim_driver& sim) -> std::unique_ptr<driver> {
        return std::make_unique<broken::altered>(sim, what);
    });
    auto const found = GetParam().law(broken_one);
    EXPECT_TRUE(found.starts_with(GetParam().finds)) << "found: " << found;
}

auto name_of(::testing::TestParamInfo<changed_canary> const& which) -> std::string {
    return which.param.name;
}
INSTANTIATE_TEST_SUITE_P(pools, changed_canaries, ::testing::ValuesIn(pool_canaries()), name_of);
INSTANTIATE_TEST_SUITE_P(empty_pools, changed_canaries, ::testing::ValuesIn(empty_pool_canaries()), name_of);
INSTANTIATE_TEST_SUITE_P(multishots, changed_canaries, ::testing::ValuesIn(multishot_canaries()), name_of);
INSTANTIATE_TEST_SUITE_P(wrong_objects, changed_canaries, ::testing::ValuesIn(wrong_object_canaries()),
                         name_of);
INSTANTIATE_TEST_SUITE_P(watches, changed_canaries, ::testing::ValuesIn(watch_canaries()), name_of);
INSTANTIATE_TEST_SUITE_P(commands, changed_canaries, ::testing::ValuesIn(command_canaries()), name_of);

} // namespace
} // namespace pitsaw::laws
