#pragma once
#include <pitsaw/executor/executor_ref.hpp>
#include <pitsaw/io/stream_operation.hpp>
#include <pitsaw/io/write.hpp>
#include <pitsaw/net/endpoint.hpp>
#include <pitsaw/task/task.hpp>

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

namespace pitsaw::inline v0 {

/// What a connection is set up with.
struct tcp_stream_options {
    bool no_delay = true;
    bool keep_alive = false;
    std::int32_t send_buffer_bytes = 0;    ///< 0: the system's choice
    std::int32_t receive_buffer_bytes = 0; ///< 0: the system's choice
};
static_assert(std::is_trivially_copyable_v<tcp_stream_options>);

class tcp_stream;
class tcp_stream_in_transit;

/// What `tcp_stream::async_close` awaits.
///
/// ```cpp
/// co_await ps::or_return(peer.async_close());
/// ```
/// Lifetime: the stream lives until it has begun, which leaves the stream without a connection. Threads:
/// the stream's. Errors: `bad_file_descriptor` for a stream without one; closing itself does not fail.
/// Stopping: before it has begun; then not. Sizes: 120 bytes.
class [[nodiscard]] close_operation : public plain_operation {
  public:
    explicit close_operation(tcp_stream& of) noexcept;
    [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept;

  private:
    tcp_stream& of_;
};

/// A TCP connection.
///
/// ```cpp
/// auto peer = co_await ps::or_return(ps::tcp_stream::connect(ps::endpoint::loopback(8080)));
/// std::string_view const question = "hello";
/// co_await ps::or_return(peer.send_all(std::as_bytes(std::span(question))));
/// auto answer = co_await ps::or_return(peer.receive());        // a lease; empty: the peer has finished
/// ```
/// Lifetime: move-only, and moved only while nothing is in flight; its destructor gives the descriptor to
/// the driver, which closes it and ends with `operation_canceled` what another task may still have in
/// flight on it. It must not outlive its runtime. Threads: the worker it was made on. Errors: in the
/// results; whatever a peer does is one. Stopping: what completed is delivered; a stopped receive has taken
/// nothing, a stopped send sent nothing, a stopped connect leaves no connection. At most one receive and
/// one send are at work; others wait their turn. Given to a call that goes to another worker it moves
/// there, see `departing`; what was received before and is still in a lease stays. Sizes: 16 bytes.
class tcp_stream {
  public:
    using bound_to_worker = void; ///< see `transferable`
    using in_transit = tcp_stream_in_transit;

    using bound_to_runtime = void; ///< see sync_wait

    tcp_stream() = default; ///< none
    /// Takes over a descriptor of this worker's driver.
    tcp_stream(executor_ref home, descriptor own) noexcept : home_(home), own_(own) {}
    tcp_stream(tcp_stream&& other) noexcept
        : home_(other.home_), own_(std::exchange(other.own_, descriptor())) {}
    tcp_stream& operator=(tcp_stream&& other) noexcept {
        tcp_stream taken(std::move(other)); // itself, perhaps
        std::swap(home_, taken.home_);
        std::swap(own_, taken.own_);
        return *this;
    }
    ~tcp_stream();

    [[nodiscard]] static task<io_result<tcp_stream>> connect(endpoint to, tcp_stream_options how = {});

    /// What has come, in a buffer that is taken only then: an idle connection holds none.
    [[nodiscard]] auto receive() noexcept { return pooled_receive_operation(own_); }
    /// The same into the caller's bytes.
    [[nodiscard]] auto receive(std::span<std::byte> into) noexcept { return receive_operation(own_, into); }
    /// The same into a container of bytes, which is owned meanwhile and comes back cut to what was
    /// received.
    template <class Buffer> [[nodiscard]] task<io_result<Buffer>> receive_into(Buffer buffer) {
        static_assert(sizeof(typename Buffer::value_type) == 1, "receive_into takes a container of bytes");
        return receive_owned(own_, std::move(buffer));
    }

    /// Sends some of the bytes.
    [[nodiscard]] auto send(std::span<std::byte const> bytes) noexcept { return send_operation(own_, bytes); }
    [[nodiscard]] auto send_pieces(std::span<source_span const> pieces) noexcept {
        return vectored_send_operation(own_, pieces);
    }
    /// Sends all of them (write.hpp).
    [[nodiscard]] task<io_result<void>> send_all(std::span<std::byte const> bytes) {
        return pitsaw::send_all(*this, bytes);
    }
    [[nodiscard]] task<io_result<void>> send_all(std::span<std::byte const> bytes, std::size_t& sent) {
        return pitsaw::send_all(*this, bytes, sent);
    }
    [[nodiscard]] task<io_result<void>> send_all(std::span<source_span const> pieces, std::size_t& sent) {
        return pitsaw::send_all(*this, pieces, sent);
    }

    /// The peer sees the end of the stream; receiving goes on.
    [[nodiscard]] auto shutdown_send() noexcept { return plain_operation(op_code::shutdown, own_); }
    /// Waits until the peer has finished, or gives the error of a broken connection; takes no byte.
    [[nodiscard]] auto closed() noexcept { return plain_operation(op_code::watch, own_); }
    /// Ends what is in flight on it, then closes it. A stop does not reach it once it has begun.
    [[nodiscard]] auto async_close() noexcept { return close_operation(*this); }

    [[nodiscard]] io_result<endpoint> local_endpoint() const noexcept;
    [[nodiscard]] io_result<endpoint> peer_endpoint() const noexcept;
    [[nodiscard]] io_result<void> set_option(socket_option which, std::int32_t value) noexcept;
    [[nodiscard]] io_result<void> set_options(tcp_stream_options how) noexcept;

    [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(own_); }

    /// For an operation of one's own on it, which has ended before the stream goes.
    [[nodiscard]] descriptor as_descriptor() const noexcept { return own_; }

  private:
    friend close_operation;
    friend tcp_stream_in_transit;
    friend class tcp_listener;

    /// The options of a new stream, which has the system's defaults: a call for each that differs.
    [[nodiscard]] io_result<void> set_up(tcp_stream_options how) noexcept;
    [[nodiscard]] io_result<void> set_buffer_bytes(tcp_stream_options const& how) noexcept;

    template <class Buffer> static task<io_result<Buffer>> receive_owned(descriptor from, Buffer buffer) {
        auto const got = co_await receive_operation(from, std::as_writable_bytes(std::span(buffer)));
        if (!got.has_value()) co_return std::unexpected(got.error());
        buffer.resize(*got);
        co_return io_result<Buffer>(std::move(buffer));
    }

    executor_ref home_;
    descriptor own_;
};
static_assert(sizeof(tcp_stream) == 16);

/// A connection on its way from one worker to another; one that never arrives is closed.
///
/// Lifetime: the call's that carries it. Threads: made on the worker that it leaves, the rest on the one
/// that it comes to; closed by any worker of the runtime. Errors: something in flight on it is a failed
/// check; `arrive` throws std::system_error where the driver there cannot take it. Stopping: none.
class tcp_stream_in_transit {
  public:
    explicit(false) tcp_stream_in_transit(tcp_stream&& leaving) noexcept;
    tcp_stream_in_transit(tcp_stream_in_transit&& other) noexcept
        : handle_(std::exchange(other.handle_, native_handle::none)), stream_(std::move(other.stream_)) {}
    ~tcp_stream_in_transit();

    [[nodiscard]] tcp_stream& arrive();

  private:
    native_handle handle_ = native_handle::none;
    tcp_stream stream_; ///< when it has arrived
};

} // namespace pitsaw::inline v0
