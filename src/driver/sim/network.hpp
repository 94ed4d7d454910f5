#pragma once
#include <pitsaw/base/random.hpp>
#include <pitsaw/io/buffer.hpp>
#include <pitsaw/io/descriptor.hpp>
#include <pitsaw/io/socket_command.hpp>
#include <pitsaw/sim/network_options.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

namespace pitsaw::inline v0 {

/// Bytes of the whole simulated world since it began: sent = received + readable + discarded.
struct sim_traffic {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    std::uint64_t readable = 0;  // taken from senders, not yet by receivers: on the way and unread
    std::uint64_t discarded = 0; // unread when their receiver closed, or lost with the connection
    [[nodiscard]] bool balances() const noexcept { return sent == received + readable + discarded; }
};

/// One machine of the simulated world.
enum class sim_host : std::uint32_t {};

/// The kernels' side of the simulated world: the sockets of all its machines, what is on the way between
/// them, and the time.
///
/// It knows no operations: a driver decides when a call is made. Every call returns what a kernel would: a
/// count, a handle or a negative error, `would_block` among them. The drivers of a machine then hear of each
/// socket for which a call that would have blocked may now succeed (`subscribe`). Within a machine everything
/// arrives at once. A world of one machine takes every address for its own; else each machine has the one it
/// was given, and its loopback. Threads: one.
class sim_network {
  public:
    static std::int32_t const would_block;

    explicit sim_network(sim::network_options how, std::uint64_t seed);
    sim_network(sim_network&&) = delete;

    // machines
    [[nodiscard]] auto add_host() -> sim_host;
    [[nodiscard]] auto address_of(sim_host which) const noexcept -> socket_address const& {
        return hosts_[static_cast<std::size_t>(which)].address;
    }
    void cut(sim_host one, sim_host other);
    void heal(sim_host one, sim_host other);
    void heal();
    void reset_between(sim_host one, sim_host other); // every connection between the two is broken
    void close_all(sim_host of);                      // as a kernel does for a process that ended
    void power_off(sim_host which);                   // its sockets are gone, and nobody is told
    void power_on(sim_host which);
    void slow_down(sim_host one, sim_host other, duration more); // on top of the latency, each way

    // time
    [[nodiscard]] auto now() const noexcept -> time_point { return now_; }
    void advance_to(time_point then); // what arrives by then has arrived
    [[nodiscard]] auto next_at() const noexcept -> time_point;

    // calls
    [[nodiscard]] auto make_socket(sim_host on) -> native_handle;
    [[nodiscard]] auto make_pair(sim_host on) -> std::pair<native_handle, native_handle>;
    [[nodiscard]] auto control(native_handle which, socket_command& command) -> std::int32_t;
    [[nodiscard]] auto is_open(native_handle which) const noexcept -> bool;
    [[nodiscard]] auto receive(native_handle from, std::span<std::byte> into) -> std::int32_t;
    [[nodiscard]] auto send(native_handle to, std::span<std::byte const> bytes) -> std::int32_t;
    [[nodiscard]] auto watch(native_handle stream, bool only_broken) const -> std::int32_t;
    [[nodiscard]] auto accept(native_handle listener) -> std::int32_t;
    [[nodiscard]] auto connect(native_handle which, socket_address to) -> std::int32_t;
    [[nodiscard]] auto shutdown(native_handle which) -> std::int32_t;
    void close(native_handle which);
    void hide(native_handle which); // a close is on its way: nobody finds it any more
    [[nodiscard]] auto has_accepted(native_handle listener) const -> bool; // an accept would not block
    void reset(native_handle which); // the network breaks the connection for both ends

    /// From here on `changes` gets each socket of `on` that changes: one list for each driver of a machine.
    void subscribe(sim_host on, std::vector<native_handle>& changes);
    void unsubscribe(sim_host on, std::vector<native_handle>& changes) noexcept;
    [[nodiscard]] auto readable_bytes(native_handle which) const noexcept -> std::size_t;
    [[nodiscard]] auto traffic() const noexcept -> sim_traffic { return traffic_; }
    [[nodiscard]] auto open_count() const noexcept -> std::size_t { return open_; }
    [[nodiscard]] auto open_count(sim_host on) const noexcept -> std::size_t;

  private:
    enum class kind : std::uint8_t { free, unconnected, connecting, stream, listener };
    static constexpr std::uint32_t nobody = UINT32_MAX;

    struct place { // of a socket; stale once the socket is gone
        std::uint32_t index = nobody;
        std::uint32_t serial = 0;
        friend auto operator<=>(place, place) noexcept = default;
    };
    struct socket {
        kind is = kind::free;
        bool finished = false;      // this end sends no more
        bool peer_finished = false; // the end of the stream follows what is in `incoming`
        bool reset_on_close = false;
        bool is_hidden = false;     // it is being closed: its port is free
        bool shares_port = false;   // with others that say so too
        bool has_connected = false; // for the connect that waits
        bool is_told = false;       // of `broken`: as on Linux a call hears of it once
        std::int32_t broken = 0;    // the error that ended the connection, or refused it
        std::uint32_t serial = 0;
        sim_host host{};
        place peer; // of a stream
        sim_host peer_host{};
        std::vector<std::byte> incoming;
        std::size_t taken = 0;               // of `incoming`, from its front
        std::size_t unread = 0;              // bytes sent of which the peer has not said that they were read
        socket_address address;              // family none: not bound
        socket_address peer_address;         // stream
        std::size_t backlog_max = 0;         // listener
        std::vector<std::uint32_t> accepted; // listener: connected, not yet taken, oldest first
        std::vector<place> waiting;          // listener: sockets whose connect found the backlog full

        [[nodiscard]] auto readable() const noexcept -> std::size_t { return incoming.size() - taken; }
    };
    enum class news : std::uint8_t { connect, connected, refused, bytes, read, finished, reset };
    struct packet {
        news what{};
        place to;
        time_point at{};        // when it arrives, unless something keeps it
        socket_address address; // connect: to where
        std::size_t count = 0;  // read: bytes
        std::vector<std::byte> bytes;
    };
    struct line { // from a socket to its peer, in order; it outlives the socket, as a kernel's queue does
        sim_host from_host{};
        sim_host to_host{};
        time_point departed{}; // the last of it, at its sender
        std::deque<packet> packets;
        bool is_kept = false; // by a cut, or as nobody is there: sent again when that is over
        time_point given_up_at = never;
        bool is_orphan = false; // its machine is off: what is lost now is not sent again
    };
    struct host {
        socket_address address;
        bool is_off = false;
        std::vector<std::vector<native_handle>*> subscribers;
    };
    struct link { // between two machines
        sim_host one;
        sim_host other;
        bool is_cut = false;
        duration more{};
    };
    struct patience { // of a connect
        time_point ends_at;
        place of;
    };

    [[nodiscard]] static constexpr auto failure(std::errc what) noexcept -> std::int32_t {
        return -static_cast<std::int32_t>(what);
    }

    // sockets.cpp
    [[nodiscard]] auto make(kind is, sim_host on) -> std::uint32_t;
    [[nodiscard]] auto at(native_handle which) -> socket&;
    [[nodiscard]] auto at(native_handle which) const -> socket const&;
    [[nodiscard]] auto place_of(std::uint32_t index) const noexcept -> place;
    [[nodiscard]] auto find(place where) noexcept -> socket*; // null: gone
    [[nodiscard]] auto is_taken(sim_host on, socket_address const& at, bool shares = false) const noexcept
        -> bool;
    [[nodiscard]] auto free_port(sim_host on) noexcept -> std::uint16_t; // 0: there is none
    [[nodiscard]] auto bind(socket& self, socket_address at) -> std::int32_t;
    void ask_again(place waiting);
    void changed(std::uint32_t index);
    void changed(place where);
    [[nodiscard]] auto tell_of_the_break(socket& self, std::int32_t later) noexcept -> std::int32_t;
    void throw_away_unread(socket& of) noexcept;
    void forget(std::uint32_t index);

    // network.cpp
    [[nodiscard]] auto host_of(sim_host which) noexcept -> host& {
        return hosts_[static_cast<std::size_t>(which)];
    }
    [[nodiscard]] auto find_link(sim_host one, sim_host other) noexcept -> link*;
    [[nodiscard]] auto link_of(sim_host one, sim_host other) -> link&;
    [[nodiscard]] auto is_kept(line const& between) noexcept -> bool;
    [[nodiscard]] auto find_host(sim_host from, socket_address const& to) const noexcept -> std::uint32_t;
    [[nodiscard]] auto listens_at(socket const& one, sim_host on, socket_address const& to) const noexcept
        -> bool;
    [[nodiscard]] auto find_listener(sim_host on, socket_address const& to, place asking) const noexcept
        -> std::uint32_t;
    void tell(std::uint32_t from, packet what);
    void probe(std::uint32_t from);
    void send_on(place from, sim_host from_host, sim_host to_host, packet what);
    [[nodiscard]] auto draw_latency(line const& of) noexcept -> duration;
    void keep(line& which);
    void go_on();
    void lose(line& of);
    void lose(packet const& what) noexcept;
    void give_up_what_is_due();
    [[nodiscard]] auto arrive_first() -> bool;
    void arrive(place from, line const& over, packet what);
    void connect_arrives(place from, line const& over, packet const& what);
    void break_off(place which, std::int32_t why);

    sim::network_options how_;
    random_source random_;
    time_point now_{};
    std::map<place, line> lines_; // by the socket that speaks, those on which something is said
    std::vector<patience> connecting_;
    std::uint32_t refusals_ = 0; // of nobody's sockets: each has a line of its own
    std::vector<host> hosts_;
    std::vector<link> links_; // those that differ from the others
    std::deque<socket> sockets_;
    std::vector<std::uint32_t>
        free_; // the last one closed is the first reused, as a kernel does with numbers
    sim_traffic traffic_;
    std::size_t open_ = 0;
    std::uint16_t last_port_ = 49'151; // of those given to who binds to none
};

} // namespace pitsaw::inline v0
