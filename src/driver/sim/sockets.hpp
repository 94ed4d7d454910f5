#pragma once
#include <pitsaw/io/buffer.hpp>
#include <pitsaw/io/descriptor.hpp>
#include <pitsaw/io/socket_command.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

namespace pitsaw::inline v0 {

/// Bytes of the whole simulated world since it began: sent = received + readable + discarded.
struct sim_traffic {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    std::uint64_t readable = 0;  // taken from senders, not yet by receivers
    std::uint64_t discarded = 0; // unread when their receiver closed
    [[nodiscard]] bool balances() const noexcept { return sent == received + readable + discarded; }
};

/// The kernel's side of the simulated world: sockets in memory whose calls never wait.
///
/// It knows neither time nor operations: the driver decides when a call is made. Every call returns what a
/// kernel would: a count, a handle or a negative error, `would_block` among them. `take_changed` then names
/// the sockets for which a call that would have blocked may now succeed. Threads: one.
class sim_sockets {
  public:
    static std::int32_t const would_block;

    explicit sim_sockets(std::size_t capacity) : capacity_(capacity) {}

    [[nodiscard]] auto make_socket() -> native_handle;
    [[nodiscard]] auto make_pair() -> std::pair<native_handle, native_handle>;
    [[nodiscard]] auto control(native_handle which, socket_command& command) -> std::int32_t;
    [[nodiscard]] auto is_open(native_handle which) const noexcept -> bool;

    [[nodiscard]] auto receive(native_handle from, std::span<std::byte> into) -> std::int32_t;
    [[nodiscard]] auto send(native_handle to, std::span<std::byte const> bytes) -> std::int32_t;
    [[nodiscard]] auto watch(native_handle stream, bool only_broken) const -> std::int32_t;
    [[nodiscard]] auto accept(native_handle listener) -> std::int32_t;
    [[nodiscard]] auto connect(native_handle which, socket_address to) -> std::int32_t;
    [[nodiscard]] auto shutdown(native_handle which) -> std::int32_t;
    void close(native_handle which);
    void reset(native_handle which); // the network breaks the connection for both ends

    [[nodiscard]] auto take_changed() -> std::vector<native_handle>;
    [[nodiscard]] auto readable_bytes(native_handle which) const noexcept -> std::size_t;
    [[nodiscard]] auto traffic() const noexcept -> sim_traffic { return traffic_; }
    [[nodiscard]] auto open_count() const noexcept -> std::size_t { return open_; }

  private:
    enum class kind : std::uint8_t { free, unconnected, stream, listener };
    static constexpr std::uint32_t nobody = UINT32_MAX;

    struct socket {
        kind is = kind::free;
        bool finished = false;      // this end sends no more
        bool peer_finished = false; // the end of the stream follows what is in `incoming`
        bool was_reset = false;
        bool reset_on_close = false;
        std::uint32_t peer = nobody; // nobody: it has closed
        std::vector<std::byte> incoming;
        std::size_t taken = 0;               // of `incoming`, from its front
        socket_address address;              // family none: not bound
        socket_address peer_address;         // stream
        std::size_t backlog_max = 0;         // listener
        std::vector<std::uint32_t> accepted; // listener: connected, not yet taken, oldest first
        std::vector<std::uint32_t> waiting;  // listener: sockets whose connect found the backlog full

        [[nodiscard]] auto readable() const noexcept -> std::size_t { return incoming.size() - taken; }
    };

    [[nodiscard]] auto make(kind is) -> std::uint32_t;
    [[nodiscard]] auto at(native_handle which) -> socket&;
    [[nodiscard]] auto at(native_handle which) const -> socket const&;
    [[nodiscard]] auto find_listener(socket_address where) const noexcept -> std::uint32_t; // or nobody
    [[nodiscard]] auto is_bound(std::uint16_t port) const noexcept -> bool;
    [[nodiscard]] auto free_port() noexcept -> std::uint16_t;
    void join(std::uint32_t one, std::uint32_t other);
    void changed(std::uint32_t index);
    void forget(std::uint32_t index);
    void leave_peer(std::uint32_t index);

    std::size_t capacity_; // bytes a stream holds in each direction
    std::deque<socket> sockets_;
    std::vector<std::uint32_t>
        free_; // the last one closed is the first reused, as a kernel does with numbers
    std::vector<native_handle> changed_;
    sim_traffic traffic_;
    std::size_t open_ = 0;
    std::uint16_t last_port_ = 49'151; // of those given to who binds to none
};

} // namespace pitsaw::inline v0
