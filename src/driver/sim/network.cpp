#include "driver/sim/network.hpp"

#include <pitsaw/base/check.hpp>

#include <algorithm>
#include <system_error>

namespace pitsaw::inline v0 {
namespace {

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
    : how_(how), random_(seed) {
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
    go_on();
}

void sim_network::heal() {
    for (auto& each : links_) each.is_cut = false;
    go_on();
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
    for (auto& [from, each] : lines_) {
        if (each.from_host != which) continue;
        each.is_orphan = true;
        if (each.is_kept) lose(each); // it was in the machine's memory only
    }
    for (std::uint32_t index = 0; index < sockets_.size(); ++index) {
        auto const& each = sockets_[index];
        if (each.is == kind::stream && each.peer_host == which && each.unread >= how_.stream_capacity)
            probe(index);
    }
}

void sim_network::power_on(sim_host const which) {
    host_of(which).is_off = false;
    go_on();
}

/// A cut keeps two machines from hearing each other, and one that is off hears nobody.
auto sim_network::is_kept(line const& between) noexcept -> bool {
    if (between.from_host == between.to_host) return false;
    if (host_of(between.to_host).is_off) return true;
    auto const* const way = find_link(between.from_host, between.to_host);
    return way != nullptr && way->is_cut;
}

auto sim_network::find_host(sim_host const from, socket_address const& to) const noexcept -> std::uint32_t {
    if (hosts_.size() == 1 || is_loopback(to) || is_unspecified(to)) return static_cast<std::uint32_t>(from);
    for (std::uint32_t index = 0; index < hosts_.size(); ++index) {
        auto const& at = hosts_[index].address;
        if (at.family == to.family && at.bytes == to.bytes) return index;
    }
    return nobody;
}

auto sim_network::listens_at(socket const& one, sim_host const on, socket_address const& to) const noexcept
    -> bool {
    if (one.is != kind::listener || one.is_hidden || one.host != on || one.address.port != to.port)
        return false;
    if (hosts_.size() == 1) return true;
    auto const takes_it = is_unspecified(one.address) || one.address.bytes == to.bytes ||
                          (is_unspecified(to) && is_loopback(one.address));
    return one.address.family == to.family && takes_it;
}

/// Of several that share the port, whichever `asking` comes to, as a kernel's hash of the connection would.
auto sim_network::find_listener(sim_host const on, socket_address const& to,
                                place const asking) const noexcept -> std::uint32_t {
    auto const takes_it = [&](socket const& each) { return listens_at(each, on, to); };
    auto const count = static_cast<std::uint32_t>(std::ranges::count_if(sockets_, takes_it));
    if (count == 0) return nobody;
    auto before = asking.serial % count;
    for (std::uint32_t index = 0;; ++index)
        if (takes_it(sockets_[index]) && before-- == 0) return index;
}

/// From a socket to its peer.
void sim_network::tell(std::uint32_t const from, packet what) {
    auto const& self = sockets_[from];
    what.to = self.peer;
    send_on(place_of(from), self.host, self.peer_host, std::move(what));
}

/// What a kernel asks whose peer has no room (RFC 9293, 3.8.6.1): a machine that knows nothing of the
/// connection answers with a reset, and one that does not answer is given up.
void sim_network::probe(std::uint32_t const from) {
    packet asks;
    asks.what = news::bytes;
    tell(from, std::move(asks));
}

auto sim_network::draw_latency(line const& of) noexcept -> duration {
    if (of.from_host == of.to_host) return duration::zero();
    auto const takes = duration(random_.between(how_.latency_min.count(), how_.latency_max.count()));
    auto const* const way = find_link(of.from_host, of.to_host);
    if (way == nullptr) return takes;
    return way->more > duration::max() - takes ? duration::max() : takes + way->more;
}

/// Behind all that was said on the same line.
void sim_network::send_on(place const from, sim_host const from_host, sim_host const to_host, packet what) {
    auto& over = lines_[from];
    over.from_host = from_host;
    over.to_host = to_host;
    over.departed = std::max(over.departed, now_);
    if (how_.bytes_per_second != 0 && from_host != to_host) {
        constexpr std::uint64_t second = std::chrono::nanoseconds(std::chrono::seconds(1)).count();
        auto const whole = what.bytes.size() / how_.bytes_per_second; // apart, so that nothing overflows
        auto const rest = what.bytes.size() % how_.bytes_per_second;
        auto const takes = whole * second + rest * second / how_.bytes_per_second;
        over.departed = saturating_add(over.departed, duration(takes));
    }
    what.at = saturating_add(over.departed, draw_latency(over));
    if (!over.packets.empty()) what.at = std::max(what.at, over.packets.back().at);
    over.packets.push_back(std::move(what));
    if (is_kept(over)) keep(over);
    // What takes no time is there before the call returns; in a loop, for an arrival may be answered.
    while (arrive_first()) {
    }
}

/// What its sender's kernel would have sent again and again meanwhile.
void sim_network::keep(line& which) {
    // Neither a reset nor the word that bytes were read is sent twice by a kernel; the latter is said anew.
    std::erase_if(which.packets, [](packet const& each) { return each.what == news::reset; });
    if (which.is_orphan) lose(which);
    auto const is_owed = std::ranges::any_of(which.packets, [](packet const& each) {
        return each.what != news::read && each.what != news::connect;
    });
    which.is_kept = true;
    if (is_owed && which.given_up_at == never) which.given_up_at = saturating_add(now_, how_.give_up_after);
}

/// Something has become possible again: what was kept is sent once more, in its order.
void sim_network::go_on() {
    for (auto& [from, each] : lines_) {
        if (!each.is_kept || is_kept(each)) continue;
        each.is_kept = false;
        each.given_up_at = never;
        auto not_before = now_;
        for (auto& kept : each.packets)
            kept.at = not_before = std::max(not_before, saturating_add(now_, draw_latency(each)));
    }
    advance_to(now_);
}

void sim_network::lose(packet const& what) noexcept {
    traffic_.readable -= what.bytes.size();
    traffic_.discarded += what.bytes.size();
}

void sim_network::lose(line& of) {
    for (auto const& each : of.packets) lose(each);
    of.packets.clear();
}

void sim_network::give_up_what_is_due() {
    for (auto& [from, each] : lines_) {
        if (!each.is_kept || each.given_up_at > now_) continue;
        each.given_up_at = never;
        lose(each); // the end of the stream too: it must not look whole
        break_off(from, failure(std::errc::timed_out));
    }
    for (auto const& each : std::exchange(connecting_, {})) {
        auto const* const self = find(each.of);
        if (self == nullptr || self->is != kind::connecting) continue;
        if (each.ends_at > now_) {
            connecting_.push_back(each);
            continue;
        }
        if (auto const over = lines_.find(each.of); over != lines_.end()) lose(over->second);
        break_off(each.of, failure(std::errc::timed_out));
    }
}

auto sim_network::next_at() const noexcept -> time_point {
    auto next = never;
    for (auto const& [from, each] : lines_) {
        if (each.is_kept)
            next = std::min(next, each.given_up_at);
        else if (!each.packets.empty())
            next = std::min(next, each.packets.front().at);
    }
    for (auto const& each : connecting_) next = std::min(next, each.ends_at);
    return next;
}

void sim_network::advance_to(time_point const then) {
    now_ = std::max(now_, then);
    while (arrive_first()) {
    }
    give_up_what_is_due();
}

/// Lets the earliest of what is due arrive; of equals the one whose socket is the older.
auto sim_network::arrive_first() -> bool {
    auto first = lines_.end();
    for (auto each = lines_.begin(); each != lines_.end();) {
        auto& over = each->second;
        if (over.packets.empty() && over.departed <= now_) { // it is made anew when it is needed
            each = lines_.erase(each);
            continue;
        }
        if (!over.packets.empty() && !over.is_kept && is_kept(over)) keep(over);
        auto const is_due = !over.is_kept && !over.packets.empty() && over.packets.front().at <= now_;
        if (is_due && (first == lines_.end() || over.packets.front().at < first->second.packets.front().at))
            first = each;
        ++each;
    }
    if (first == lines_.end()) return false;
    auto what = std::move(first->second.packets.front());
    first->second.packets.pop_front();
    auto const from = first->first;
    line over; // by value: an answer may add lines
    over.from_host = first->second.from_host;
    over.to_host = first->second.to_host;
    arrive(from, over, std::move(what));
    return true;
}

void sim_network::connect_arrives(place const from, line const& over, packet const& what) {
    auto const listening = find_listener(over.to_host, what.address, from);
    if (listening == nobody) {
        packet refused;
        refused.what = news::refused;
        refused.to = from;
        return send_on({nobody, ++refusals_}, over.to_host, over.from_host, std::move(refused));
    }
    auto& listener = sockets_[listening]; // stays where it is while the deque grows
    if (listener.accepted.size() >= listener.backlog_max) {
        if (std::ranges::find(listener.waiting, from) == listener.waiting.end())
            listener.waiting.push_back(from);
        return;
    }
    auto const made = make(kind::stream, over.to_host);
    auto& server = sockets_[made];
    server.peer = from;
    server.peer_host = over.from_host;
    server.address = what.address;
    if (auto const* const client = find(from)) server.peer_address = client->address;
    listener.accepted.push_back(made);
    changed(listening);
    packet connected;
    connected.what = news::connected;
    tell(made, std::move(connected));
}

void sim_network::arrive(place const from, line const& over, packet what) {
    if (what.what == news::connect) return connect_arrives(from, over, what);
    auto* const self = find(what.to);
    auto const is_whole = self != nullptr && self->is == kind::stream && self->broken == 0;
    if (!is_whole) lose(what);
    // Of what is gone or broken a kernel knows nothing, and says so.
    bool const is_astray = what.what == news::connected ? self == nullptr || self->is != kind::connecting
                                                        : what.what == news::bytes && !is_whole;
    if (is_astray) {
        packet reset;
        reset.what = news::reset;
        reset.to = from;
        return send_on(what.to, over.to_host, over.from_host, std::move(reset));
    }
    if (self == nullptr) return;
    switch (what.what) {
    case news::connect:
        break;
    case news::connected:
        self->is = kind::stream;
        self->peer = from;
        self->has_connected = true;
        break;
    case news::refused:
        return break_off(what.to, failure(std::errc::connection_refused));
    case news::bytes:
        self->incoming.insert(self->incoming.end(), what.bytes.begin(), what.bytes.end());
        break;
    case news::read:
        self->unread -= std::min(self->unread, what.count);
        break;
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
