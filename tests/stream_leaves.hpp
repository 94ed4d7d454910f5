#pragma once
#include <pitsaw/io/await_operation.hpp>
#include <pitsaw/io/buffer.hpp>
#include <pitsaw/io/result.hpp>
#include <pitsaw/pitsaw.hpp>

#include <cstddef>
#include <span>

namespace pitsaw::testing {

/// Receives what is there, into the caller's buffer.
class receive_some : public operation_leaf {
  public:
    receive_some(descriptor from, std::span<std::byte> into) noexcept
        : operation_leaf(op_code::receive, from) {
        set_buffer(*this, into);
    }
    [[nodiscard]] io_result<std::size_t> await_resume() const noexcept { return to_result(done()); }
};

/// Sends what fits.
class send_some : public operation_leaf {
  public:
    send_some(descriptor to, std::span<std::byte const> from) noexcept : operation_leaf(op_code::send, to) {
        set_source(*this, from);
    }
    [[nodiscard]] io_result<std::size_t> await_resume() const noexcept { return to_result(done()); }
};

/// An operation that needs no stream.
class nop : public operation_leaf {
  public:
    nop() noexcept : operation_leaf(op_code::nop, descriptor()) {}
    [[nodiscard]] io_result<std::size_t> await_resume() const noexcept { return to_result(done()); }
};

} // namespace pitsaw::testing
