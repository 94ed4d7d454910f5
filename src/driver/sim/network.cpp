#include "driver/sim/network.hpp"

#include <pitsaw/base/check.hpp>

#include <algorithm>
#include <system_error>

namespace pitsaw::inline v0 {
namespace {

struct arrives_later {
    template <class Packet> auto operator()(Packet const& a, Packet const& b) const noexcept -> bool {
        return a.at != b.at ? a.at > b.at : a.order > b.order;
    }
};

auto is_unspecified(socket_address const& at) noexcept -> bool {
    return std::ranges::all_of(at.bytes, [](std::byte one) { return one == std::byte{0}; });
}

auto is_loopback(socket_address const& at) noexcept -> bool {
    if (at.family == address_family::ipv4) return at.bytes[0] == std::byte{127};
    auto const last = at.bytes.size() - 1;
    return at.bytes[last] == std::byte{1} &&
           std::ranges::all_of(at.bytes.begin(), at.bytes.end() - 1,
                               [](std::byte one) { return one == std::byte{0}; });
}

} // namespace

sim_network::sim_network(sim::network_options const how, std::uint64_t const seed)
    : how_(how), random_(seed ^ 0x6e6574776f726b) {
    check(how.stream_capacity > 0, "network_options::stream_capacity is at least one byte");
    check(how.latency_min <= how.latency_max, "network_options: latency_min is not above latency_max");
    (void)add_host();
}

/// 10.0.0.1 and so on.
auto sim_network::add_host() -> sim_host {
    auto const number = hosts_.size() + 1;
    check(number < 1 << 24, "a simulated world has at most 16 million machines");
    auto& made = hosts_.emplace_back();
    made.address.family = address_family::ipv4;
    for (std::size_t byte = 1; byte != 4; ++byte)
        made.address.bytes[byte] = static_cast<std::byte>(number >> (24 - 8 * byte));
    made.address.bytes[0] = std::byte{10};
    return static_cast<sim_host>(hosts_.size() - 1);
}

auto sim_network::find_link(sim_host const one, sim_host const other) noexcept -> link* {
    auto const found = std::ranges::find_if(links_, [&](link const& each) {
        return (each.one == one && each.other == other) || (each.one == other && each.other == one);
    });
    return found == links_.end() ? nullptr : &*found;
}

auto sim_network::link_of(sim_host const one, sim_host const other) -> link& {
    check(one != other, "between a machine and itself there is no network");
    if (auto* const known = find_link(one, other)) return *known;
    return links_.emplace_back(link{.one = one, .other = other, .is_cut = false, .more = {}});
}

void sim_network::cut(sim_host const one, sim_host const other) { link_of(one, other).is_cut = true; }

void sim_network::heal(sim_host const one, sim_host const other) {
    link_of(one, other).is_cut = false;
    release_withheld();
}

void sim_network::heal() {
    for (auto& each : links_) each.is_cut = false;
    release_withheld();
}

void sim_network::slow_down(sim_host const one, sim_host const other, duration const more) {
    link_of(one, other).more = more;
}

void sim_network::reset_between(sim_host const one, sim_host const other) {
    for (std::uint32_t index = 0; index < sockets_.size(); ++index) {
        auto const& self = sockets_[index];
        if (self.is != kind::stream || self.host != one) continue;
        auto const* const peer = find(self.peer);
        if (peer != nullptr && peer->host == other) reset(native_handle(index));
    }
}

void sim_network::close_all(sim_host const of) {
    for (auto const which : {kind::listener, kind::unconnected, kind::connecting, kind::stream})
        for (std::uint32_t index = 0; index < sockets_.size(); ++index)
            if (sockets_[index].is == which && sockets_[index].host == of) close(native_handle(index));
}

void sim_network::power_off(sim_host const which) {
    host_of(which).is_off = true;
    for (std::uint32_t index = 0; index < sockets_.size(); ++index) {
        if (sockets_[index].is == kind::free || sockets_[index].host != which) continue;
        throw_away_unread(sockets_[index]);
        forget(index);
    }
}

void sim_network::power_on(sim_host const which) {
    host_of(which).is_off = false;
    release_withheld();
}

/// Nothing is said by a machine that is off, and a cut keeps both from hearing each other.
auto sim_network::is_withheld(packet const& what) noexcept -> bool {
    if (what.from_host == what.to_host) return false;
    if (host_of(what.to_host).is_off) return true;
    auto const* const between = find_link(what.from_host, what.to_host);
    return between != nullptr && between->is_cut;
}

auto sim_network::find_host(sim_host const from, socket_address const& to) const noexcept -> std::uint32_t {
    if (hosts_.size() == 1 || is_loopback(to) || is_unspecified(to)) return static_cast<std::uint32_t>(from);
    for (std::uint32_t index = 0; index < hosts_.size(); ++index) {
        auto const& at = hosts_[index].address;
        if (at.family == to.family && at.bytes == to.bytes) return index;
    }
    return nobody;
}

auto sim_network::find_listener(sim_host const on, socket_address const& to) const noexcept -> std::uint32_t {
    for (std::uint32_t index = 0; index < sockets_.size(); ++index) {
        auto const& each = sockets_[index];
        if (each.is != kind::listener || each.host != on || each.address.port != to.port) continue;
        if (hosts_.size() == 1 || is_unspecified(each.address) || each.address.bytes == to.bytes)
            return index;
    }
    return nobody;
}

/// From a socket to its peer, behind all that it has said before.
void sim_network::tell(std::uint32_t const from, news const what, std::vector<std::byte> bytes) {
    auto& self = sockets_[from];
    auto const* const peer = find(self.peer);
    packet made;
    made.what = what;
    made.from_host = self.host;
    made.to_host = peer != nullptr ? peer->host : self.peer_host;
    made.from = place_of(from);
    made.to = self.peer;
    made.address = self.peer_address;
    made.bytes = std::move(bytes);
    if (how_.bytes_per_second != 0 && made.from_host != made.to_host) {
        constexpr std::uint64_t second = std::chrono::nanoseconds(std::chrono::seconds(1)).count();
        auto const takes = made.bytes.size() * second / how_.bytes_per_second;
        self.last_arrival = saturating_add(std::max(self.last_arrival, now_), duration(takes));
    }
    self.last_arrival = transmit(std::move(made), self.last_arrival);
}

/// Of a socket that is gone, or that never was.
void sim_network::answer(packet const& to, news const what) {
    packet made;
    made.what = what;
    made.from_host = to.to_host;
    made.to_host = to.from_host;
    made.from = to.to;
    made.to = to.from;
    (void)transmit(std::move(made), now_);
}

/// Returns when it arrives, if nothing keeps it.
auto sim_network::transmit(packet what, time_point const not_before) -> time_point {
    if (is_withheld(what)) {
        withhold(std::move(what));
        return now_;
    }
    auto takes = duration::zero();
    if (what.from_host != what.to_host) {
        takes = duration(random_.between(how_.latency_min.count(), how_.latency_max.count()));
        if (auto const* const between = find_link(what.from_host, what.to_host)) takes += between->more;
    }
    what.at = std::max(saturating_add(now_, takes), not_before);
    auto const at = what.at;
    if (at <= now_) {
        arrive(std::move(what));
    } else {
        what.order = ++order_;
        under_way_.push_back(std::move(what));
        std::ranges::push_heap(under_way_, arrives_later{});
    }
    return at;
}

void sim_network::withhold(packet what) {
    if (host_of(what.from_host).is_off) return lose(what); // nobody is there to send it again
    auto const patience = what.what == news::connect ? how_.connect_gives_up_after : how_.give_up_after;
    what.given_up_at = saturating_add(now_, patience);
    withheld_.push_back(std::move(what));
}

/// What was kept back is sent again, in its order.
void sim_network::release_withheld() {
    auto kept = std::exchange(withheld_, {});
    for (auto& each : kept) {
        if (host_of(each.from_host).is_off) {
            lose(each);
        } else if (is_withheld(each)) {
            withheld_.push_back(std::move(each));
        } else {
            auto* const sender = find(each.from);
            auto const at = transmit(std::move(each), sender != nullptr ? sender->last_arrival : now_);
            if (sender != nullptr) sender->last_arrival = at;
        }
    }
}

void sim_network::lose(packet const& what) noexcept {
    traffic_.readable -= what.bytes.size();
    traffic_.discarded += what.bytes.size();
    if (auto* const sender = find(what.from)) sender->on_the_way -= what.bytes.size();
}

void sim_network::give_up_what_is_due() {
    std::vector<packet> given_up;
    std::erase_if(withheld_, [&](packet& each) {
        if (each.given_up_at > now_) return false;
        given_up.push_back(std::move(each));
        return true;
    });
    for (auto const& each : given_up) {
        lose(each);
        break_off(each.from, failure(std::errc::timed_out));
    }
}

auto sim_network::next_at() const noexcept -> time_point {
    auto next = under_way_.empty() ? never : under_way_.front().at;
    for (auto const& each : withheld_) next = std::min(next, each.given_up_at);
    return next;
}

void sim_network::advance_to(time_point const then) {
    now_ = std::max(now_, then);
    while (!under_way_.empty() && under_way_.front().at <= now_) {
        std::ranges::pop_heap(under_way_, arrives_later{});
        auto next = std::move(under_way_.back());
        under_way_.pop_back();
        if (is_withheld(next))
            withhold(std::move(next));
        else
            arrive(std::move(next));
    }
    if (!withheld_.empty()) give_up_what_is_due();
}

void sim_network::connect_arrives(packet const& what) {
    auto const listening = find_listener(what.to_host, what.address);
    if (listening == nobody) return answer(what, news::refused);
    auto& listener = sockets_[listening]; // stays where it is while the deque grows
    if (listener.accepted.size() >= listener.backlog_max) {
        if (std::ranges::find(listener.waiting, what.from) == listener.waiting.end())
            listener.waiting.push_back(what.from);
        return;
    }
    auto const made = make(kind::stream, what.to_host);
    auto& server = sockets_[made];
    server.peer = what.from;
    server.peer_host = what.from_host;
    server.address = what.address;
    if (auto const* const client = find(what.from)) server.peer_address = client->address;
    listener.accepted.push_back(made);
    changed(listening);
    tell(made, news::connected);
}

void sim_network::arrive(packet what) {
    if (what.what == news::connect) return connect_arrives(what);
    auto const count = what.bytes.size();
    if (auto* const sender = find(what.from)) sender->on_the_way -= count;
    auto* const self = find(what.to);
    auto const is_connected = self != nullptr && self->is == kind::stream;
    if (count != 0 && (!is_connected || self->broken != 0)) {
        traffic_.readable -= count;
        traffic_.discarded += count;
    }
    if (self == nullptr) { // of what is gone a kernel knows nothing, and says so
        if (what.what == news::connected || what.what == news::bytes) answer(what, news::reset);
        return;
    }
    switch (what.what) {
    case news::connect:
        break;
    case news::connected:
        if (self->is != kind::connecting) return answer(what, news::reset);
        self->is = kind::stream;
        self->peer = what.from;
        self->has_connected = true;
        break;
    case news::refused:
        return break_off(what.to, failure(std::errc::connection_refused));
    case news::bytes:
        if (is_connected && self->broken == 0)
            self->incoming.insert(self->incoming.end(), what.bytes.begin(), what.bytes.end());
        break;
    case news::closed:
        self->peer_closed = true;
        [[fallthrough]];
    case news::finished:
        self->peer_finished = true;
        break;
    case news::reset:
        return break_off(what.to, failure(std::errc::connection_reset));
    }
    changed(what.to.index);
}

/// The connection is no more, or will never be.
void sim_network::break_off(place const which, std::int32_t const why) {
    auto* const self = find(which);
    if (self == nullptr || (self->is != kind::stream && self->is != kind::connecting)) return;
    if (self->is == kind::connecting) self->is = kind::unconnected;
    if (self->broken == 0) self->broken = why;
    self->peer_finished = true;
    changed(which.index);
}

} // namespace pitsaw::inline v0
