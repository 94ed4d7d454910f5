#pragma once
#include <pitsaw/io/await_operation.hpp>
#include <pitsaw/io/buffer.hpp>
#include <pitsaw/io/buffer_pool.hpp>
#include <pitsaw/io/result.hpp>
#include <pitsaw/io/socket_address.hpp>

#include <coroutine>
#include <cstddef>
#include <memory>
#include <span>

namespace pitsaw::inline v0 {

// The leaves that streams of every kind are made of; a program meets them as what a stream's functions
// return. Lifetime: in the awaiting frame; what they lend lives until they have ended. Threads: the worker's.
// Errors: in the result. Stopping: as operation_leaf: what completed is delivered.

/// Receives into the caller's bytes; 0 at the end of the stream.
///
/// ```cpp
/// auto got = co_await peer.receive(buffer);
/// ```
class [[nodiscard]] receive_operation : public operation_leaf {
  public:
    receive_operation(descriptor from, std::span<std::byte> into) noexcept
        : operation_leaf(op_code::receive, from) {
        set_buffer(*this, into);
    }
    using operation_leaf::on_error;
    [[nodiscard]] std::size_t value() const noexcept { return static_cast<std::size_t>(result_); }
    [[nodiscard]] io_result<std::size_t> await_resume() const noexcept { return to_result(done()); }
};

/// Sends some of the caller's bytes.
class [[nodiscard]] send_operation : public operation_leaf {
  public:
    send_operation(descriptor to, std::span<std::byte const> from) noexcept
        : operation_leaf(op_code::send, to) {
        set_source(*this, from);
    }
    using operation_leaf::on_error;
    [[nodiscard]] std::size_t value() const noexcept { return static_cast<std::size_t>(result_); }
    [[nodiscard]] io_result<std::size_t> await_resume() const noexcept { return to_result(done()); }
};

/// Sends some of several pieces, at most `pieces_max` of them.
class [[nodiscard]] vectored_send_operation : public wide_operation_leaf {
  public:
    vectored_send_operation(descriptor to, std::span<source_span const> pieces) noexcept
        : wide_operation_leaf(op_code::send, to) {
        set_pieces(*this, pieces);
    }
    using wide_operation_leaf::on_error;
    [[nodiscard]] std::size_t value() const noexcept { return static_cast<std::size_t>(result_); }
    [[nodiscard]] io_result<std::size_t> await_resume() const noexcept { return to_result(done()); }
};

/// What ends without a count: watch, shutdown, close.
class [[nodiscard]] plain_operation : public operation_leaf {
  public:
    using operation_leaf::on_error;
    using operation_leaf::operation_leaf;
    void value() const noexcept {}
    [[nodiscard]] io_result<void> await_resume() const noexcept {
        if (result_ < 0) return std::unexpected(to_error(result_));
        return {};
    }
};

/// Connects; owns the peer's address.
class [[nodiscard]] connect_operation : public wide_operation_leaf {
  public:
    connect_operation(descriptor which, socket_address const& to) noexcept
        : wide_operation_leaf(op_code::connect, which), to_(to) {
        set_source(*this, std::as_bytes(std::span(&to_, 1)));
    }
    using wide_operation_leaf::on_error;
    void value() const noexcept {}
    [[nodiscard]] io_result<void> await_resume() const noexcept {
        if (result_ < 0) return std::unexpected(to_error(result_));
        return {};
    }

  private:
    socket_address to_;
};

/// Receives what is there into a buffer of the worker's pool, taken only then; where the pool is empty, into
/// one of the heap of the same size. An empty lease is the end of the stream.
class [[nodiscard]] pooled_receive_operation : public operation_leaf {
  public:
    explicit pooled_receive_operation(descriptor from) noexcept : operation_leaf(op_code::receive, from) {
        on_event = arrived;
    }
    ~pooled_receive_operation();
    using operation_leaf::on_error;

    [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept;
    [[nodiscard]] lease value() noexcept;
    [[nodiscard]] io_result<lease> await_resume() noexcept {
        if (result_ < 0) return std::unexpected(to_error(result_));
        return value();
    }

  private:
    static void arrived(operation& self, event const& done) noexcept;

    /// From now on into the heap. False: there is no memory, and the result says so.
    [[nodiscard]] bool use_heap(std::uint32_t bytes) noexcept;
    [[nodiscard]] bool found_empty(event const& done) const noexcept;

    buffer_pool* from_ = nullptr; // null: the heap, where `address` is ours
};

} // namespace pitsaw::inline v0
