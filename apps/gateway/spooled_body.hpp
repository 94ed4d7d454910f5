#pragma once
#include <pitsaw/http/message.hpp>
#include <pitsaw/io/result.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace gateway {

/// A request's body, kept until it is known who gets it: in memory up to a limit, then in a file without a
/// name.
///
/// Lifetime: outlives what `as_body` gives. Threads: one. Errors: the file system's. A write to the file can
/// hold up the worker when the system is short of memory.
class spooled_body {
  public:
    spooled_body(std::size_t memory_max, std::string folder) noexcept
        : folder_(std::move(folder)), memory_max_(memory_max) {}
    spooled_body(spooled_body&&) = delete;
    ~spooled_body();

    [[nodiscard]] pitsaw::io_result<void> append(std::span<std::byte const> piece);
    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
    /// All of it, from the beginning; as often as it is wanted.
    [[nodiscard]] pitsaw::http::body as_body() const;
    /// What is in memory: all of it, unless it is longer than that may be.
    [[nodiscard]] std::string_view in_memory() const noexcept { return memory_; }

  private:
    [[nodiscard]] pitsaw::io_result<void> write(std::span<std::byte const> piece);

    std::string folder_;
    std::string memory_;
    std::size_t memory_max_;
    std::uint64_t size_ = 0;
    int file_ = -1; ///< what does not fit in memory
};

} // namespace gateway
