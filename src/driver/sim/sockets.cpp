#include "driver/sim/sockets.hpp"

#include <pitsaw/base/check.hpp>

#include <algorithm>
#include <cstring>
#include <system_error>

namespace pitsaw::inline v0 {
namespace {

auto failure(std::errc what) noexcept -> std::int32_t { return -static_cast<std::int32_t>(what); }

} // namespace

std::int32_t const sim_sockets::would_block = failure(std::errc::operation_would_block);

auto sim_sockets::make(kind is) -> std::uint32_t {
    auto index = static_cast<std::uint32_t>(sockets_.size());
    if (free_.empty()) {
        sockets_.emplace_back();
    } else {
        index = free_.back();
        free_.pop_back();
    }
    auto& made = sockets_[index];
    made.is = is;
    ++open_;
    return index;
}

auto sim_sockets::at(native_handle which) -> socket& {
    check(is_open(which), "the simulated world has no open object with this handle");
    return sockets_[static_cast<std::size_t>(which)];
}

auto sim_sockets::at(native_handle which) const -> socket const& {
    check(is_open(which), "the simulated world has no open object with this handle");
    return sockets_[static_cast<std::size_t>(which)];
}

auto sim_sockets::is_open(native_handle which) const noexcept -> bool {
    auto const index = static_cast<std::size_t>(which);
    return index < sockets_.size() && sockets_[index].is != kind::free;
}

void sim_sockets::changed(std::uint32_t index) {
    if (index != nobody) changed_.push_back(native_handle(index));
}

auto sim_sockets::take_changed() -> std::vector<native_handle> { return std::exchange(changed_, {}); }

void sim_sockets::join(std::uint32_t one, std::uint32_t other) {
    sockets_[one].is = sockets_[other].is = kind::stream;
    sockets_[one].peer = other;
    sockets_[other].peer = one;
}

auto sim_sockets::make_socket() -> native_handle { return native_handle(make(kind::unconnected)); }

auto sim_sockets::make_pair() -> std::pair<native_handle, native_handle> {
    auto const one = make(kind::stream);
    auto const other = make(kind::stream);
    join(one, other);
    return {native_handle(one), native_handle(other)};
}

auto sim_sockets::find_listener(socket_address where) const noexcept -> std::uint32_t {
    for (std::uint32_t index = 0; index < sockets_.size(); ++index)
        if (sockets_[index].is == kind::listener && sockets_[index].address.port == where.port) return index;
    return nobody;
}

auto sim_sockets::is_bound(std::uint16_t port) const noexcept -> bool {
    if (port == 0) return false;
    return std::ranges::any_of(sockets_, [port](socket const& one) {
        return (one.is == kind::listener || one.is == kind::unconnected) && one.address.port == port;
    });
}

auto sim_sockets::free_port() noexcept -> std::uint16_t {
    do last_port_ = last_port_ == UINT16_MAX ? 49'152 : last_port_ + 1;
    while (is_bound(last_port_));
    return last_port_;
}

auto sim_sockets::control(native_handle which, socket_command& command) -> std::int32_t {
    auto& self = at(which);
    switch (command.what) {
    case socket_command::bind:
        if (command.address.family == address_family::none)
            return failure(std::errc::address_family_not_supported);
        if (self.is != kind::unconnected || self.address.family != address_family::none)
            return failure(std::errc::invalid_argument);
        if (is_bound(command.address.port)) return failure(std::errc::address_in_use);
        self.address = command.address;
        if (self.address.port == 0) self.address.port = free_port();
        return 0;
    case socket_command::listen:
        if (self.is != kind::unconnected && self.is != kind::listener)
            return failure(std::errc::invalid_argument);
        if (self.address.family == address_family::none)
            self.address = {.family = address_family::ipv4, .port = free_port()};
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
        return 0; // the world has no kernel whose habits the others would change
    case socket_command::look_for_input:
        command.value =
            self.is != kind::stream || self.readable() != 0 || self.peer_finished || self.was_reset;
        return 0;
    }
    return failure(std::errc::invalid_argument);
}

auto sim_sockets::watch(native_handle stream, bool only_broken) const -> std::int32_t {
    auto const& self = at(stream);
    if (self.is != kind::stream) return failure(std::errc::not_connected);
    if (self.was_reset) return failure(std::errc::connection_reset);
    return self.peer_finished && !only_broken ? 0 : would_block;
}

auto sim_sockets::receive(native_handle from, std::span<std::byte> into) -> std::int32_t {
    auto& self = at(from);
    if (self.is != kind::stream) return failure(std::errc::not_connected);
    if (into.empty()) return 0;
    // What arrived before a reset or the end of the stream is handed out first.
    if (self.readable() == 0) {
        if (self.was_reset) return failure(std::errc::connection_reset);
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
    changed(self.peer);
    return static_cast<std::int32_t>(count);
}

auto sim_sockets::send(native_handle to, std::span<std::byte const> bytes) -> std::int32_t {
    auto& self = at(to);
    if (self.is != kind::stream) return failure(std::errc::broken_pipe);
    if (self.was_reset) return failure(std::errc::connection_reset);
    if (self.finished || self.peer == nobody) return failure(std::errc::broken_pipe);
    if (bytes.empty()) return 0;
    auto& peer = sockets_[self.peer];
    auto const count = std::min(bytes.size(), capacity_ - peer.readable());
    if (count == 0) return would_block;
    peer.incoming.insert(peer.incoming.end(), bytes.begin(),
                         bytes.begin() + static_cast<std::ptrdiff_t>(count));
    traffic_.sent += count;
    traffic_.readable += count;
    changed(self.peer);
    return static_cast<std::int32_t>(count);
}

auto sim_sockets::accept(native_handle listener) -> std::int32_t {
    auto& self = at(listener);
    if (self.is != kind::listener) return failure(std::errc::invalid_argument);
    if (self.accepted.empty()) return would_block;
    auto const index = self.accepted.front();
    self.accepted.erase(self.accepted.begin());
    for (auto const waiter : std::exchange(self.waiting, {})) changed(waiter);
    return static_cast<std::int32_t>(index);
}

auto sim_sockets::connect(native_handle which, socket_address to) -> std::int32_t {
    if (to.family == address_family::none) return failure(std::errc::address_family_not_supported);
    if (at(which).is != kind::unconnected) return failure(std::errc::already_connected);
    auto const client = static_cast<std::uint32_t>(which);
    auto const found = find_listener(to);
    if (found == nobody) return failure(std::errc::connection_refused);
    auto& listener = sockets_[found]; // stays where it is while the deque grows
    if (listener.accepted.size() >= listener.backlog_max) {
        if (std::ranges::find(listener.waiting, client) == listener.waiting.end())
            listener.waiting.push_back(client);
        return would_block;
    }
    auto const server = make(kind::stream);
    join(client, server);
    auto& self = sockets_[client];
    if (self.address.family == address_family::none)
        self.address = {.family = to.family, .port = free_port(), .scope = to.scope, .bytes = to.bytes};
    self.peer_address = sockets_[server].address = to;
    sockets_[server].peer_address = self.address;
    listener.accepted.push_back(server);
    changed(found);
    return 0;
}

auto sim_sockets::shutdown(native_handle which) -> std::int32_t {
    auto& self = at(which);
    if (self.is != kind::stream) return failure(std::errc::not_connected);
    self.finished = true;
    if (self.peer != nobody) sockets_[self.peer].peer_finished = true;
    changed(self.peer);
    changed(static_cast<std::uint32_t>(which));
    return 0;
}

void sim_sockets::leave_peer(std::uint32_t index) {
    auto& self = sockets_[index];
    traffic_.readable -= self.readable();
    traffic_.discarded += self.readable();
    if (self.peer == nobody) return;
    auto& peer = sockets_[self.peer];
    peer.peer = nobody;
    peer.peer_finished = true;
    // As TCP answers a close that leaves bytes unread.
    if (self.readable() != 0 || self.reset_on_close) peer.was_reset = true;
    changed(self.peer);
}

void sim_sockets::forget(std::uint32_t index) {
    sockets_[index] = {};
    free_.push_back(index);
    --open_;
}

void sim_sockets::close(native_handle which) {
    auto& self = at(which);
    for (auto const pending : self.accepted) {
        if (auto const client = sockets_[pending].peer; client != nobody) sockets_[client].was_reset = true;
        leave_peer(pending);
        forget(pending);
    }
    auto const waiting = std::exchange(self.waiting, {});
    leave_peer(static_cast<std::uint32_t>(which));
    forget(static_cast<std::uint32_t>(which));
    for (auto const waiter : waiting) changed(waiter);
}

void sim_sockets::reset(native_handle which) {
    auto& self = at(which);
    check(self.is == kind::stream, "only a connection can be reset");
    self.was_reset = true;
    if (self.peer != nobody) sockets_[self.peer].was_reset = true;
    changed(self.peer);
    changed(static_cast<std::uint32_t>(which));
}

auto sim_sockets::readable_bytes(native_handle which) const noexcept -> std::size_t {
    return is_open(which) ? sockets_[static_cast<std::size_t>(which)].readable() : 0;
}

} // namespace pitsaw::inline v0
