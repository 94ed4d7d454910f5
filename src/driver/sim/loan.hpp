#pragma once
#include <pitsaw/io/operation.hpp>

#include <cstdint>

namespace pitsaw::inline v0 {

/// What the simulator remembers of an operation on loan, so that it can see the owner break the loan (law 2).
///
/// `begin` fills the buffer of a receive with 0xA5 and hashes that of a send or connect; `verify` fails the
/// process, naming operation and descriptor, when the buffer or a field of the operation has changed since.
/// Lifetime: from submit to the final event.
class sim_loan {
  public:
    void begin(operation& op) noexcept;
    void verify(operation const& op) const noexcept;

  private:
    op_code code_ = op_code::nop;
    op_option options_ = op_option::none;
    std::uint32_t length_ = 0;
    descriptor target_;
    void* address_ = nullptr;
    operation::event_handler on_event_ = nullptr;
    std::uint64_t hash_ = 0;
};

} // namespace pitsaw::inline v0
