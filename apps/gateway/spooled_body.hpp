#pragma once
#include <pitsaw/http/message.hpp>
#include <pitsaw/io/result.hpp>
#include <pitsaw/task/task.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace gateway {

/// Where bodies wait that do not fit in memory, and how many bytes of all of them may. Threads: any.
class spool {
  public:
    spool(std::string where, std::uint64_t bytes_max) : folder(std::move(where)), bytes_max_(bytes_max) {}

    /// False: there is no room for so many bytes more.
    [[nodiscard]] bool reserve(std::uint64_t bytes) noexcept;
    void release(std::uint64_t bytes) noexcept { bytes_.fetch_sub(bytes, std::memory_order_relaxed); }

    std::string const folder;

  private:
    std::uint64_t const bytes_max_;
    std::atomic<std::uint64_t> bytes_ = 0; ///< that are there now, or about to be; relaxed: a count
};

/// A request's body, kept until it is known who gets it: in memory up to a limit, then in a file without a
/// name.
///
/// Lifetime: within the spool's; outlives what `as_body` gives. Threads: one worker's; the file is written
/// and read by the runtime's blocking pool, since a disk may be slow, and closed by the worker. Errors: the
/// file system's; `no_space_on_device` also where the spool is full. Stopping: an append that is stopped
/// has been made or not, and is not counted in `size`.
class spooled_body {
  public:
    spooled_body(std::size_t memory_max, spool& in) noexcept : spool_(in), memory_max_(memory_max) {}
    spooled_body(spooled_body&&) = delete;
    ~spooled_body();

    /// The piece stays until it is over.
    [[nodiscard]] pitsaw::task<pitsaw::io_result<void>> append(std::span<std::byte const> piece);
    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
    /// All of it, from the beginning; as often as it is wanted.
    [[nodiscard]] pitsaw::http::body as_body() const;
    /// What is in memory: all of it, unless it is longer than that may be.
    [[nodiscard]] std::string_view in_memory() const noexcept { return memory_; }

  private:
    [[nodiscard]] pitsaw::io_result<void> write(std::span<std::byte const> piece);
    [[nodiscard]] pitsaw::io_result<void> open();

    spool& spool_;
    std::string memory_;
    std::size_t memory_max_;
    std::uint64_t size_ = 0;
    std::uint64_t in_file_ = 0; ///< bytes of the spool that this holds
    int file_ = -1;             ///< what does not fit in memory
};

} // namespace gateway
