#include "driver/law_loop.hpp"
#include "driver/laws.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <thread>

namespace pitsaw::laws {
namespace {

auto free_port() -> socket_address {
    return {.family = address_family::ipv4,
            .port = 0,
            .scope = 0,
            .bytes = {std::byte{127}, std::byte{0}, std::byte{0}, std::byte{1}}};
}

auto bytes_of(socket_address const& address) -> std::vector<std::byte> {
    auto const bytes = std::bit_cast<std::array<std::byte, sizeof address>>(address);
    return {bytes.begin(), bytes.end()};
}

auto address(driver& io, descriptor of, socket_command::kind which) -> io_result<socket_address> {
    socket_command command{.what = which};
    if (auto const done = io.control(of, command); !done) return std::unexpected(done.error());
    return command.address;
}

auto bind(driver& io, descriptor which, socket_address const& to) -> io_result<void> {
    socket_command command{.what = socket_command::bind, .address = to};
    return io.control(which, command);
}

} // namespace

auto vectored_sends_keep_the_order(law_subject& subject) -> finding {
    law_loop loop(subject);
    auto const [left, right] = subject.connected_pair();
    auto random = random_source(19);
    std::size_t sent = 0;
    for (int i = 0; i < 100; ++i) {
        auto& send = loop.make(op_code::send, right);
        send.bytes = pattern(sent, 1 + random.below(300));
        std::vector<source_span> pieces;
        for (std::size_t at = 0; at < send.bytes.size();) {
            auto const length = std::min<std::size_t>(random.below(20), send.bytes.size() - at); // 0 as well
            pieces.push_back({.address = send.bytes.data() + at, .length = length});
            at += length;
        }
        set_pieces(send, pieces);
        loop.start(send);
        if (!loop.run_until_ended(send) || send.result() <= 0)
            return text("a vectored send ended with ", send.result());
        auto const count = static_cast<std::size_t>(send.result());
        if (count > send.bytes.size()) return "a vectored send reports more than it was given";
        if (loop.receive_all(left, sent, count) != count) return "a vectored send mixed its pieces up";
        sent += count;
    }
    return loop.finding();
}

TEST_P(driver_laws, vectored_sends_keep_the_order) { expect(vectored_sends_keep_the_order); } // law 13

auto socket_commands_tell_addresses(law_subject& subject) -> finding {
    law_loop loop(subject);
    auto& io = loop.io();
    auto const listener = io.open_stream(address_family::ipv4);
    if (!listener) return "a socket cannot be opened";
    if (!bind(io, *listener, free_port())) return "bind to a free port failed";
    socket_command listen{.what = socket_command::listen, .value = 4};
    if (!io.control(*listener, listen)) return "listen failed";
    auto const here = address(io, *listener, socket_command::local_address);
    if (!here || here->port == 0 || here->bytes != free_port().bytes || here->family != address_family::ipv4)
        return "the local address of a listener on a free port";

    auto const second = io.open_stream(address_family::ipv4);
    if (!second) return "a socket cannot be opened";
    if (auto const taken = bind(io, *second, *here); taken || taken.error() != std::errc::address_in_use)
        return "law 9: bind to a port that is taken";

    auto const client = io.open_stream(address_family::ipv4);
    if (!client) return "a socket cannot be opened";
    if (auto const none = address(io, *client, socket_command::peer_address);
        none || none.error() != std::errc::not_connected)
        return "law 9: the peer of a socket that is not connected";
    auto& accepting = loop.make(op_code::accept, *listener);
    auto& connecting = loop.make_connect(*client, bytes_of(*here));
    loop.submit(accepting);
    loop.submit(connecting);
    if (!loop.run_until([&] { return loop.in_flight() == 0; }) || connecting.result() != 0 ||
        accepting.result() < 0)
        return "no connection to the address that local_address told";
    auto const served = io.attach(native_handle(accepting.result()));
    if (!served) return "law 4: an accepted handle cannot be attached";
    auto const mine = address(io, *client, socket_command::local_address);
    auto const his = address(io, *served, socket_command::peer_address);
    if (!mine || !his || *mine != *his) return "the server's peer is not the client's local address";
    if (address(io, *client, socket_command::peer_address) != *here ||
        address(io, *served, socket_command::local_address) != *here)
        return "the client's peer is not where it connected to";

    auto& again = loop.make_connect(*client, bytes_of(*here));
    loop.start(again);
    if (!loop.run_until_ended(again) || to_error(again.result()) != std::errc::already_connected)
        return text("law 9: a second connect ended with ", again.result());
    socket_command reset{.what = socket_command::set_option, .option = socket_option::no_delay, .value = 1};
    if (!io.control(*client, reset)) return "an option cannot be set";
    for (auto const which : {*listener, *second, *client, *served}) io.discard(which);
    if (auto const stale = io.control(*client, reset);
        stale || stale.error() != std::errc::bad_file_descriptor)
        return "law 10: a command on a stale descriptor";
    return loop.finding();
}

TEST_P(driver_laws, socket_commands_tell_addresses) { expect(socket_commands_tell_addresses); } // laws 9, 10

auto look_for_input_tells_what_a_receive_would_end_with(law_subject& subject) -> finding {
    law_loop loop(subject);
    auto const [left, right] = subject.connected_pair();
    auto const is_told = [&, on = left](std::int32_t wanted) { // the system takes its time to bring it
        socket_command look{.what = socket_command::look_for_input, .value = -1};
        for (int tries = 0; tries < 1000; ++tries) {
            if (!loop.io().control(on, look)) return false;
            if (look.value == wanted) return true;
            std::this_thread::sleep_for(std::chrono::milliseconds(wanted));
        }
        return false;
    };
    if (!is_told(0)) return "input is told where nothing has come";
    auto& send = loop.make_send(right, pattern(0, 5));
    loop.start(send);
    if (!loop.run_until_ended(send) || send.result() <= 0) return text("a send ended with ", send.result());
    if (!is_told(1)) return "bytes that came are not told";
    auto const count = static_cast<std::size_t>(send.result());
    if (loop.receive_all(left, 0, count) != count) return "what was sent did not arrive";
    if (!is_told(0)) return "input is told where all of it was received";
    auto& shutdown = loop.make(op_code::shutdown, right);
    loop.start(shutdown);
    if (!loop.run_until_ended(shutdown)) return "law 1: a shutdown never ended";
    if (!is_told(1)) return "the end of the stream is not told";
    return loop.finding();
}

TEST_P(driver_laws, look_for_input_tells_what_a_receive_would_end_with) {
    expect(look_for_input_tells_what_a_receive_would_end_with);
}

auto operations_wait_behind_a_connect(law_subject& subject) -> finding {
    law_loop loop(subject);
    auto const [listener, address] = subject.listen(4);
    for (std::size_t i = 0; i < 20; ++i) {
        auto const client = subject.socket();
        auto& accepting = loop.make(op_code::accept, listener);
        auto& connecting = loop.make_connect(client, address);
        auto& send = loop.make_send(client, pattern(i, 5));
        auto& shutdown = loop.make(op_code::shutdown, client);
        for (auto* const op : {&connecting, &send, &shutdown, &accepting}) loop.submit(*op);
        if (!loop.run_until([&] { return loop.in_flight() == 0; })) return "law 1: a final event is missing";
        if (connecting.result() != 0 || send.result() <= 0 || shutdown.result() != 0 ||
            accepting.result() < 0)
            return text("law 13: a send behind its connect ended with ", send.result());
        auto const served = loop.io().attach(native_handle(accepting.result()));
        if (!served) return "law 4: an accepted handle cannot be attached";
        if (loop.receive_all(*served, i) != static_cast<std::size_t>(send.result()))
            return "law 13: what was sent behind a connect did not arrive";
        loop.io().discard(*served);
        loop.io().discard(client);
    }
    return loop.finding();
}

TEST_P(driver_laws, operations_wait_behind_a_connect) { expect(operations_wait_behind_a_connect); } // law 13

} // namespace pitsaw::laws
