#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pitsaw::inline v0 {

/// Memory lent for pooled receives, in buffers of equal size (io/driver.hpp, law 16).
///
/// Lifetime: as long as the driver; the memory is the lender's. Threads: the driver's.
class readiness_pool {
  public:
    /// Errors: std::bad_alloc.
    readiness_pool(std::span<std::byte> memory, std::uint32_t buffer_bytes, std::size_t count)
        : memory_(memory), buffer_bytes_(buffer_bytes), is_free_(count, true) {
        free_.reserve(count); // so that a give_back cannot fail
        for (auto left = count; left != 0; --left) free_.push_back(static_cast<std::uint16_t>(left - 1));
    }

    [[nodiscard]] bool empty() const noexcept { return free_.empty(); }
    /// The buffer that `take` would take. The pool is not empty.
    [[nodiscard]] auto front() const noexcept -> std::span<std::byte> {
        return memory_.subspan(std::size_t{free_.back()} * buffer_bytes_, buffer_bytes_);
    }
    [[nodiscard]] auto take() noexcept -> std::uint16_t {
        auto const taken = free_.back(); // the last given back: the warmest
        free_.pop_back();
        is_free_[taken] = false;
        return taken;
    }
    /// False: nobody holds that buffer.
    [[nodiscard]] bool give_back(std::uint16_t buffer) noexcept {
        if (buffer >= is_free_.size() || is_free_[buffer]) return false;
        is_free_[buffer] = true;
        free_.push_back(buffer);
        return true;
    }

  private:
    std::span<std::byte> memory_;
    std::uint32_t buffer_bytes_;
    std::vector<std::uint16_t> free_;
    std::vector<bool> is_free_;
};

} // namespace pitsaw::inline v0
