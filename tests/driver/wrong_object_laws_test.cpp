#include "driver/law_loop.hpp"
#include "driver/laws.hpp"

#include <array>
#include <bit>
#include <limits>

/// What a driver answers where the object is the wrong one, or in the wrong state: the same on every system.
namespace pitsaw::laws {
namespace {

auto expect(law_loop& loop, tracked& op, std::errc wanted, char const* where) -> void {
    loop.start(op);
    if (!loop.run_until([&] { return op.ended(); }))
        return loop.found(text("law 1: a ", name(op.code), " ", where, " never ended"));
    if (op.result() < 0 && to_error(op.result()) == wanted) return;
    loop.found(text("law 9: a ", name(op.code), " ", where, " ended with ", op.result(), ", not with ",
                    std::make_error_code(wanted).message()));
}

/// An operation that waits and is cancelled leaves its direction as one that found nothing leaves it.
void wait_in_vain(law_loop& loop, tracked& op) {
    loop.submit(op);
    loop.turn(loop.io().now());
    loop.run_for(std::chrono::milliseconds(1));
    loop.cancel(op);
    if (!loop.run_until_ended(op)) loop.found("law 3: a cancel was lost");
}

auto loopback(std::uint16_t port = 0) -> socket_address {
    return {.family = address_family::ipv4,
            .port = port,
            .scope = 0,
            .bytes = {std::byte{127}, std::byte{0}, std::byte{0}, std::byte{1}}};
}

} // namespace

auto accept_needs_a_listener(law_subject& subject) -> finding {
    law_loop loop(subject);
    auto const [left, right] = subject.connected_pair();
    expect(loop, loop.make(op_code::accept, subject.socket()), std::errc::invalid_argument,
           "on a new socket");
    expect(loop, loop.make(op_code::accept, left), std::errc::invalid_argument, "on a stream");
    wait_in_vain(loop, loop.make_receive(left, 1));
    expect(loop, loop.make(op_code::accept, left), std::errc::invalid_argument, "on a stream without bytes");
    if (!loop.send_all(right, 0, 1) || loop.receive_all(left, 0, 1) != 1)
        return "law 9: a refused accept harmed its stream";
    return loop.finding();
}

TEST_P(driver_laws, accept_needs_a_listener) { expect(accept_needs_a_listener); }

auto a_listener_is_no_stream(law_subject& subject) -> finding {
    law_loop loop(subject);
    auto const [listener, address] = subject.listen(4);
    for (int round = 0; round < 2; ++round) { // the second time an accept has found nobody before
        expect(loop, loop.make(op_code::watch, listener), std::errc::not_connected, "on a listener");
        auto& broken = loop.make(op_code::watch, listener);
        broken.options = op_option::broken;
        expect(loop, broken, std::errc::not_connected, "on a listener");
        expect(loop, loop.make_receive(listener, 1), std::errc::not_connected, "on a listener");
        expect(loop, loop.make_send(listener, pattern(0, 1)), std::errc::broken_pipe, "on a listener");
        expect(loop, loop.make_connect(listener, address), std::errc::already_connected, "of a listener");
        wait_in_vain(loop, loop.make(op_code::accept, listener));
    }
    if (!loop.finding().empty()) return loop.finding();
    auto& accepting = loop.make(op_code::accept, listener);
    auto& connecting = loop.make_connect(subject.socket(), address);
    loop.submit(accepting);
    loop.submit(connecting);
    if (!loop.run_until([&] { return loop.in_flight() == 0; }) || accepting.result() < 0)
        return "law 9: what was refused harmed the listener";
    loop.io().discard(loop.io().attach(native_handle(accepting.result())).value());
    return loop.finding();
}

TEST_P(driver_laws, a_listener_is_no_stream) { expect(a_listener_is_no_stream); }

auto connect_connects_once(law_subject& subject) -> finding {
    law_loop loop(subject);
    auto const [listener, address] = subject.listen(8);
    auto const client = subject.socket();
    expect(loop, loop.make_send(client, pattern(0, 1)), std::errc::broken_pipe, "on a socket without a peer");
    expect(loop, loop.make(op_code::shutdown, client), std::errc::not_connected,
           "on a socket without a peer");
    expect(loop, loop.make_connect(client, {address.begin(), address.end() - 1}), std::errc::invalid_argument,
           "to less than an address");
    auto const nowhere = std::bit_cast<std::array<std::byte, sizeof(socket_address)>>(socket_address{});
    expect(loop, loop.make_connect(client, {nowhere.begin(), nowhere.end()}),
           std::errc::address_family_not_supported, "to no address");
    expect(loop, loop.make_connect(client, subject.address_of_nobody()), std::errc::connection_refused,
           "to a port without a listener");
    auto& connecting = loop.make_connect(client, address);
    loop.start(connecting);
    if (!loop.run_until_ended(connecting) || connecting.result() != 0)
        return text("law 9: after a refusal a connect ended with ", connecting.result());
    for (int i = 0; i < 2; ++i)
        expect(loop, loop.make_connect(client, address), std::errc::already_connected, "of a connection");
    auto& accepting = loop.make(op_code::accept, listener);
    loop.start(accepting);
    if (!loop.run_until_ended(accepting)) return "law 1: an accept never ended";
    auto const served = loop.io().attach(native_handle(accepting.result()));
    if (!served) return "law 4: an accepted handle cannot be attached";
    expect(loop, loop.make_connect(*served, address), std::errc::already_connected, "of an accepted one");
    if (!loop.send_all(*served, 0, 1) || loop.receive_all(client, 0, 1) != 1)
        return "law 9: what was refused harmed the connection";
    if (auto const none = loop.io().open_stream(address_family::none);
        none || none.error() != std::errc::address_family_not_supported)
        return "law 9: a stream of no family";
    return loop.finding();
}

TEST_P(driver_laws, connect_connects_once) { expect(connect_connects_once); } // EP6

auto close_ends_with_0(law_subject& subject) -> finding {
    law_loop loop(subject);
    auto const before = subject.open_objects();
    auto const close = [&](descriptor which, char const* what) {
        auto& op = loop.make(op_code::close, which);
        loop.start(op);
        if (!loop.run_until_ended(op) || op.result() != 0)
            loop.found(text("law 12: a close of ", what, " ended with ", op.result()));
    };
    close(subject.socket(), "a new socket");
    close(subject.listen(4).listener, "a listener");
    auto const [left, right] = subject.connected_pair();
    if (!loop.send_all(right, 0, 1)) return "nothing can be sent";
    close(left, "a stream with bytes in it");
    loop.run_for(std::chrono::milliseconds(1));
    close(right, "a stream that its peer has broken");
    auto const [one, other] = subject.connected_pair();
    loop.submit(loop.make(op_code::shutdown, other));
    loop.run_for(std::chrono::milliseconds(1));
    close(other, "a stream that was shut down");
    close(one, "a stream whose peer has closed");
    if (subject.open_objects() != before) return "law 12: a closed object is open";
    return loop.finding();
}

TEST_P(driver_laws, close_ends_with_0) { expect(close_ends_with_0); } // law 12

auto attach_owns_the_handle(law_subject& subject) -> finding {
    law_loop loop(subject);
    auto const before = subject.open_objects();
    auto const past_every_number = native_handle{std::int64_t{1} << 32}; // as an int it would be 0
    for (auto const bad : {native_handle::none, native_handle{1 << 20}, past_every_number})
        if (auto const made = loop.io().attach(bad); made || made.error() != std::errc::bad_file_descriptor)
            return "law 9: a handle of nothing was attached";
    auto const file = subject.file();
    if (file == native_handle::none) return loop.finding();
    auto const made = loop.io().attach(file);
    if (!made && made.error() != std::errc::operation_not_permitted)
        return "law 9: a file was refused otherwise";
    if (made) {
        expect(loop, loop.make_receive(*made, 1), std::errc::not_a_socket, "on a file");
        loop.io().discard(*made);
    }
    if (!loop.run_until_seen([&] { return subject.open_objects() == before; }))
        return "law 4: a handle that was handed over is still open";
    return loop.finding();
}

TEST_P(driver_laws, attach_owns_the_handle) { expect(attach_owns_the_handle); }

auto bind_tells_nothing(law_subject& subject) -> finding {
    law_loop loop(subject);
    auto& io = loop.io();
    auto const socket = io.open_stream(address_family::ipv4);
    if (!socket) return "a socket cannot be opened";
    socket_command nowhere{.what = socket_command::bind};
    if (auto const bound = io.control(*socket, nowhere);
        bound || bound.error() != std::errc::address_family_not_supported)
        return "law 9: bind to no address";
    socket_command bind{.what = socket_command::bind, .address = loopback()};
    if (!io.control(*socket, bind)) return "bind to a free port failed";
    if (bind.address != loopback()) return "bind wrote to its command";
    socket_command local{.what = socket_command::local_address};
    if (!io.control(*socket, local) || local.address.port == 0) return "port 0 became no port";
    if (auto const again = io.control(*socket, bind); again || again.error() != std::errc::invalid_argument)
        return "law 9: a second bind";
    io.discard(*socket);
    return loop.finding();
}

TEST_P(driver_laws, bind_tells_nothing) { expect(bind_tells_nothing); }

auto commands_on_a_stale_descriptor_are_refused(law_subject& subject) -> finding {
    law_loop loop(subject);
    auto const refuses = [&](descriptor which, char const* what) {
        for (auto const kind :
             {socket_command::bind, socket_command::listen, socket_command::local_address,
              socket_command::peer_address, socket_command::set_option, socket_command::look_for_input}) {
            socket_command command{.what = kind, .value = 1, .address = loopback()};
            if (auto const done = loop.io().control(which, command);
                done || done.error() != std::errc::bad_file_descriptor)
                loop.found(text("law 10: a command on ", what));
        }
    };
    refuses({}, "no descriptor");
    auto const socket = subject.socket();
    auto& close = loop.make(op_code::close, socket);
    loop.submit(close);
    refuses(socket, "a descriptor that is being closed");
    if (!loop.run_until_ended(close)) return "law 12: a close never ended";
    refuses(socket, "a stale descriptor");
    (void)subject.connected_pair(); // has the number, most likely
    refuses(socket, "a stale descriptor whose number has a new tenant");
    return loop.finding();
}

TEST_P(driver_laws, commands_on_a_stale_descriptor_are_refused) { // law 10
    expect(commands_on_a_stale_descriptor_are_refused);
}

} // namespace pitsaw::laws
