#pragma once
#include "loop/flight_record.hpp"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace pitsaw::inline v0 {

/// A recorder's memory, copied: from a file, or from another process. It trusts nothing that it finds there.
///
/// Lifetime: owns its bytes. Threads: one at a time. Errors: `make` says in words what is wrong.
class flight_image {
  public:
    /// `words`, for the alignment; the first `bytes` of them count.
    [[nodiscard]] static auto make(std::vector<std::uint64_t> words, std::size_t bytes)
        -> std::expected<flight_image, std::string>;
    [[nodiscard]] static auto read(std::string const& path) -> std::expected<flight_image, std::string>;

    /// Fills the span with what is so many bytes behind the memory's beginning; false: it is gone.
    using reader = std::function<bool(std::uint64_t, std::span<std::byte>)>;

    /// Copies memory of `bytes` that its worker, or a stranger, writes to meanwhile.
    [[nodiscard]] static auto copy(reader const& from, std::uint64_t bytes)
        -> std::expected<flight_image, std::string>;

    [[nodiscard]] auto header() const noexcept -> flight_header const& {
        return *reinterpret_cast<flight_header const*>(words_.data());
    }
    /// How many there ever were.
    [[nodiscard]] auto pushed() const noexcept -> std::uint64_t;
    /// Those that are left, the oldest first.
    [[nodiscard]] auto records() const -> std::vector<flight_record>;
    /// Whole entries.
    [[nodiscard]] auto inputs() const noexcept -> std::span<std::byte const>;
    [[nodiscard]] auto bytes() const noexcept -> std::span<std::byte const>;

  private:
    /// Forgets what may have been half written while it was copied: the writer was at `pushed` afterwards.
    void forget_before(std::uint64_t pushed) noexcept;
    [[nodiscard]] auto slot(std::uint64_t number) const noexcept -> std::size_t;

    std::vector<std::uint64_t> words_;
    std::size_t bytes_ = 0;
};

} // namespace pitsaw::inline v0
