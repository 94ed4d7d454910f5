#pragma once
#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <vector>

namespace pitsaw::cli {

struct memory_range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
};

/// The memory of a process that need not know of it: process_vm_readv(2), proc(5).
///
/// Lifetime: a number; the process may end at any time, and reads then fail. Threads: any.
class other_process {
  public:
    explicit other_process(int number) noexcept : number_(number) {}

    /// Private memory of no file that may be read and written; or in words why it cannot be known.
    [[nodiscard]] auto anonymous_memory() const -> std::expected<std::vector<memory_range>, std::string>;

    /// Whether all of `to` was read.
    [[nodiscard]] auto read(std::uint64_t from, std::span<std::byte> to) const noexcept -> bool;

    /// What a `std::source_location` of that process says, or empty.
    [[nodiscard]] auto place_at(std::uint64_t location) const -> std::string;

  private:
    [[nodiscard]] auto text_at(std::uint64_t from) const -> std::string;
    [[nodiscard]] auto why_unreadable(int error) const -> std::string;

    int number_;
};

} // namespace pitsaw::cli
