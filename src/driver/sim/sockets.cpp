#include "driver/sim/network.hpp"

#include <pitsaw/base/check.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <system_error>

namespace pitsaw::inline v0 {

std::int32_t const sim_network::would_block = failure(std::errc::operation_would_block);

auto sim_network::make(kind is, sim_host on) -> std::uint32_t {
    auto index = static_cast<std::uint32_t>(sockets_.size());
    if (free_.empty()) {
        sockets_.emplace_back();
    } else {
        index = free_.back();
        free_.pop_back();
    }
    auto& made = sockets_[index];
    made.is = is;
    made.host = on;
    ++open_;
    return index;
}

auto sim_network::at(native_handle which) -> socket& {
    check(is_open(which), "the simulated world has no open object with this handle");
    return sockets_[static_cast<std::size_t>(which)];
}

auto sim_network::at(native_handle which) const -> socket const& {
    check(is_open(which), "the simulated world has no open object with this handle");
    return sockets_[static_cast<std::size_t>(which)];
}

auto sim_network::place_of(std::uint32_t index) const noexcept -> place {
    return {index, sockets_[index].serial};
}

auto sim_network::find(place where) noexcept -> socket* {
    if (where.index >= sockets_.size()) return nullptr;
    auto& found = sockets_[where.index];
    return found.is != kind::free && found.serial == where.serial ? &found : nullptr;
}

auto sim_network::is_open(native_handle which) const noexcept -> bool {
    auto const index = static_cast<std::size_t>(which);
    return index < sockets_.size() && sockets_[index].is != kind::free;
}

auto sim_network::open_count(sim_host on) const noexcept -> std::size_t {
    return static_cast<std::size_t>(std::ranges::count_if(
        sockets_, [on](socket const& each) { return each.is != kind::free && each.host == on; }));
}

void sim_network::changed(std::uint32_t index) {
    for (auto* const changes : host_of(sockets_[index].host).subscribers)
        changes->push_back(native_handle(index));
}

void sim_network::changed(place where) {
    if (find(where) != nullptr) changed(where.index);
}

void sim_network::subscribe(sim_host on, std::vector<native_handle>& changes) {
    host_of(on).subscribers.push_back(&changes);
}

void sim_network::unsubscribe(sim_host on, std::vector<native_handle>& changes) noexcept {
    std::erase(host_of(on).subscribers, &changes);
    changes.clear();
}

auto sim_network::make_socket(sim_host on) -> native_handle {
    return native_handle(make(kind::unconnected, on));
}

auto sim_network::make_pair(sim_host on) -> std::pair<native_handle, native_handle> {
    auto const one = make(kind::stream, on);
    auto const other = make(kind::stream, on);
    sockets_[one].peer = place_of(other);
    sockets_[other].peer = place_of(one);
    sockets_[one].peer_host = sockets_[other].peer_host = on;
    return {native_handle(one), native_handle(other)};
}

/// Whether somebody has the port already, at the same address or at every one.
auto sim_network::is_taken(sim_host on, socket_address const& at, bool shares) const noexcept -> bool {
    if (at.port == 0) return false;
    constexpr std::array<std::byte, 16> any{};
    return std::ranges::any_of(sockets_, [&](socket const& one) {
        auto const can_hold_it =
            one.is == kind::listener || one.is == kind::unconnected || one.is == kind::connecting;
        auto const meets = hosts_.size() == 1 || one.address.bytes == at.bytes || one.address.bytes == any ||
                           at.bytes == any;
        return can_hold_it && !one.is_hidden && !(shares && one.shares_port) && one.host == on &&
               one.address.port == at.port && meets;
    });
}

auto sim_network::free_port(sim_host on) noexcept -> std::uint16_t {
    constexpr std::uint16_t first = 49'152;
    for (unsigned tried = first; tried <= UINT16_MAX; ++tried) {
        last_port_ = last_port_ == UINT16_MAX ? first : static_cast<std::uint16_t>(last_port_ + 1);
        socket_address at;
        at.port = last_port_;
        if (!is_taken(on, at)) return last_port_;
    }
    return 0;
}

auto sim_network::bind(socket& self, socket_address at) -> std::int32_t {
    if (at.family == address_family::none) return failure(std::errc::address_family_not_supported);
    if (self.is != kind::unconnected || self.address.family != address_family::none)
        return failure(std::errc::invalid_argument);
    if (find_host(self.host, at) != static_cast<std::uint32_t>(self.host))
        return failure(std::errc::address_not_available);
    if (is_taken(self.host, at, self.shares_port)) return failure(std::errc::address_in_use);
    if (at.port == 0) at.port = free_port(self.host);
    if (at.port == 0) return failure(std::errc::address_in_use);
    self.address = at;
    return 0;
}

auto sim_network::control(native_handle which, socket_command& command) -> std::int32_t {
    auto& self = at(which);
    switch (command.what) {
    case socket_command::bind:
        return bind(self, command.address);
    case socket_command::listen:
        if (self.is != kind::unconnected && self.is != kind::listener)
            return failure(std::errc::invalid_argument);
        if (self.address.family == address_family::none) {
            auto const port = free_port(self.host);
            if (port == 0) return failure(std::errc::address_in_use);
            self.address = {.family = address_family::ipv4, .port = port};
        }
        self.is = kind::listener;
        self.backlog_max = static_cast<std::size_t>(std::max(command.value, 1));
        return 0;
    case socket_command::local_address:
        command.address = self.address;
        return 0;
    case socket_command::peer_address:
        if (self.is != kind::stream) return failure(std::errc::not_connected);
        command.address = self.peer_address;
        return 0;
    case socket_command::set_option:
        if (command.option == socket_option::reset_on_close) self.reset_on_close = command.value != 0;
        if (command.option == socket_option::reuse_port) self.shares_port = command.value != 0;
        return 0; // the world has no kernel whose habits the others would change
    case socket_command::look_for_input:
        command.value =
            self.is != kind::stream || self.readable() != 0 || self.peer_finished || self.broken != 0;
        return 0;
    }
    return failure(std::errc::invalid_argument);
}

auto sim_network::watch(native_handle stream, bool only_broken) const -> std::int32_t {
    auto const& self = at(stream);
    if (self.is != kind::stream) return failure(std::errc::not_connected);
    if (self.broken != 0) return self.broken;
    return self.peer_finished && !only_broken ? 0 : would_block;
}

auto sim_network::receive(native_handle from, std::span<std::byte> into) -> std::int32_t {
    auto& self = at(from);
    if (self.is != kind::stream) return failure(std::errc::not_connected);
    if (into.empty()) return 0;
    // What arrived before a reset or the end of the stream is handed out first.
    if (self.readable() == 0) {
        if (self.broken != 0) return tell_of_the_break(self, 0);
        return self.peer_finished ? 0 : would_block;
    }
    auto const count = std::min(into.size(), self.readable());
    std::memcpy(into.data(), self.incoming.data() + self.taken, count);
    self.taken += count;
    if (self.taken * 2 >= self.incoming.size()) { // moves each byte at most once more
        self.incoming.erase(self.incoming.begin(),
                            self.incoming.begin() + static_cast<std::ptrdiff_t>(self.taken));
        self.taken = 0;
    }
    traffic_.received += count;
    traffic_.readable -= count;
    if (self.broken == 0) {
        packet read;
        read.what = news::read;
        read.count = count;
        tell(static_cast<std::uint32_t>(from), std::move(read));
    }
    return static_cast<std::int32_t>(count);
}

/// As Linux does: the first call hears what broke the connection, later ones find it ended.
auto sim_network::tell_of_the_break(socket& self, std::int32_t later) noexcept -> std::int32_t {
    return std::exchange(self.is_told, true) ? later : self.broken;
}

auto sim_network::send(native_handle to, std::span<std::byte const> bytes) -> std::int32_t {
    auto& self = at(to);
    if (self.is != kind::stream) return failure(std::errc::broken_pipe);
    if (self.broken != 0) return tell_of_the_break(self, failure(std::errc::broken_pipe));
    if (self.finished) return failure(std::errc::broken_pipe);
    if (bytes.empty()) return 0;
    auto const room = how_.stream_capacity - std::min(how_.stream_capacity, self.unread);
    auto const count = std::min(bytes.size(), room);
    if (count == 0) {
        if (find(self.peer) == nullptr && !lines_.contains(place_of(static_cast<std::uint32_t>(to))))
            probe(static_cast<std::uint32_t>(to));
        return self.broken != 0 ? tell_of_the_break(self, failure(std::errc::broken_pipe)) : would_block;
    }
    traffic_.sent += count;
    traffic_.readable += count;
    self.unread += count;
    packet sent;
    sent.what = news::bytes;
    sent.bytes.assign(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count));
    tell(static_cast<std::uint32_t>(to), std::move(sent));
    return static_cast<std::int32_t>(count);
}

/// A socket whose connect found the backlog full.
void sim_network::ask_again(place waiting) {
    auto const* const self = find(waiting);
    if (self == nullptr || self->is != kind::connecting) return;
    packet again;
    again.what = news::connect;
    again.address = self->peer_address;
    tell(waiting.index, std::move(again));
}

auto sim_network::has_accepted(native_handle listener) const -> bool {
    return !at(listener).accepted.empty();
}

auto sim_network::accept(native_handle listener) -> std::int32_t {
    auto& self = at(listener);
    if (self.is != kind::listener) return failure(std::errc::invalid_argument);
    if (self.accepted.empty()) return would_block;
    auto const index = self.accepted.front();
    self.accepted.erase(self.accepted.begin());
    for (auto const waiting : std::exchange(self.waiting, {})) ask_again(waiting);
    return static_cast<std::int32_t>(index);
}

auto sim_network::connect(native_handle which, socket_address to) -> std::int32_t {
    if (to.family == address_family::none) return failure(std::errc::address_family_not_supported);
    auto& self = at(which);
    if (self.is == kind::unconnected && self.broken == 0) {
        auto const where = find_host(self.host, to);
        if (where == nobody) return failure(std::errc::network_unreachable);
        if (self.address.family == address_family::none) {
            auto const is_far = static_cast<sim_host>(where) != self.host;
            auto const port = free_port(self.host);
            if (port == 0) return failure(std::errc::address_not_available);
            self.address = {.family = to.family,
                            .port = port,
                            .scope = to.scope,
                            .bytes = is_far ? host_of(self.host).address.bytes : to.bytes};
        }
        self.is = kind::connecting;
        self.peer_host = static_cast<sim_host>(where);
        self.peer_address = to;
        auto const own = place_of(static_cast<std::uint32_t>(which));
        connecting_.push_back({saturating_add(now_, how_.connect_gives_up_after), own});
        packet asks;
        asks.what = news::connect;
        asks.address = to;
        tell(own.index, std::move(asks));
    }
    if (self.is == kind::connecting) return would_block;
    if (self.is == kind::unconnected) return std::exchange(self.broken, 0);
    return std::exchange(self.has_connected, false) ? 0 : failure(std::errc::already_connected);
}

auto sim_network::shutdown(native_handle which) -> std::int32_t {
    auto& self = at(which);
    if (self.is != kind::stream) return failure(std::errc::not_connected);
    auto const index = static_cast<std::uint32_t>(which);
    if (!std::exchange(self.finished, true) && self.broken == 0) {
        packet finished;
        finished.what = news::finished;
        tell(index, std::move(finished));
    }
    changed(index);
    return 0;
}

void sim_network::throw_away_unread(socket& of) noexcept {
    traffic_.readable -= of.readable();
    traffic_.discarded += of.readable();
}

void sim_network::forget(std::uint32_t index) {
    auto const serial = sockets_[index].serial + 1;
    sockets_[index] = {};
    sockets_[index].serial = serial;
    free_.push_back(index);
    --open_;
}

void sim_network::hide(native_handle which) { at(which).is_hidden = true; }

void sim_network::close(native_handle which) {
    auto& self = at(which);
    auto const accepted = std::exchange(self.accepted, {});
    auto const waiting = std::exchange(self.waiting, {});
    for (auto const pending : accepted) {
        throw_away_unread(sockets_[pending]);
        packet reset;
        reset.what = news::reset;
        tell(pending, std::move(reset));
        forget(pending);
    }
    auto const index = static_cast<std::uint32_t>(which);
    if (self.is == kind::stream && self.broken == 0) {
        packet last; // TCP answers bytes that nobody will read with a reset
        last.what = self.readable() != 0 || self.reset_on_close ? news::reset : news::finished;
        tell(index, std::move(last));
    }
    throw_away_unread(self);
    forget(index);
    for (auto const each : waiting) ask_again(each); // there is nobody any more to refuse them later
}

void sim_network::reset(native_handle which) {
    auto& self = at(which);
    if (self.is != kind::stream) return;
    auto const peer = self.peer;
    break_off(place_of(static_cast<std::uint32_t>(which)), failure(std::errc::connection_reset));
    break_off(peer, failure(std::errc::connection_reset));
}

auto sim_network::readable_bytes(native_handle which) const noexcept -> std::size_t {
    return is_open(which) ? sockets_[static_cast<std::size_t>(which)].readable() : 0;
}

} // namespace pitsaw::inline v0
