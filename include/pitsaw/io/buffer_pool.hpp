#pragma once
#include <pitsaw/io/driver.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace pitsaw::inline v0 {

/// The buffers that one worker lends to its driver for receives that hold none while they wait.
///
/// ```cpp
/// ps::runtime_options options;
/// options.pool_buffers = 64;            // of 4 KiB each; the first pooled receive makes the pool
/// ps::runtime rt{options};
/// ```
/// Lifetime: the worker's; it outlives the driver, to which the memory is lent for good. Threads: the
/// worker's. Errors: `make` returns null if memory is short or the driver declines; receives then use heap
/// buffers. Stopping: none. Sizes: 1,024 buffers of 4 KiB unless `runtime_options` says otherwise.
class buffer_pool {
  public:
    using bound_to_worker = void; ///< see `transferable`

    [[nodiscard]] static auto make(driver& at, std::uint32_t buffers, std::uint32_t buffer_bytes) noexcept
        -> std::unique_ptr<buffer_pool>;

    buffer_pool(driver& at, std::uint32_t buffers, std::uint32_t buffer_bytes);
    buffer_pool(buffer_pool&&) = delete;
    ~buffer_pool();

    /// What `driver::lend` returned.
    [[nodiscard]] std::uint16_t number() const noexcept { return number_; }
    /// The bytes of one buffer.
    [[nodiscard]] std::span<std::byte> bytes_of(std::uint16_t buffer) const noexcept {
        return {memory_ + std::size_t{buffer} * buffer_bytes_, buffer_bytes_};
    }
    void give_back(std::uint16_t buffer) noexcept { driver_.give_back(number_, buffer); }

  private:
    driver& driver_;
    std::byte* memory_;
    std::uint32_t buffer_bytes_;
    std::uint16_t number_ = 0;
    bool is_lent_ = false;
};

/// Bytes received, in a buffer of the worker's pool, or of the heap where the pool was empty.
///
/// ```cpp
/// auto chunk = co_await ps::or_return(peer.receive());
/// if (chunk.empty()) co_return {};                      // the peer has finished
/// co_await ps::or_return(peer.send_all(chunk));
/// ```
/// Holding one keeps a pool buffer from others, but starves nobody: they fall back to the heap. Lifetime: it
/// gives its buffer back at its end, so it must not outlive its runtime. Threads: its worker's. Errors and
/// stopping: none. Sizes: 24 bytes; at most one pool buffer of bytes.
class lease {
  public:
    using bound_to_worker = void; ///< see `transferable`

    using bound_to_runtime = void; ///< see sync_wait

    lease() = default;
    /// Of a pool's buffer.
    lease(buffer_pool& of, std::uint16_t buffer, std::uint32_t size) noexcept
        : pool_(&of), data_(of.bytes_of(buffer).data()), size_(size), buffer_(buffer) {}
    /// Of the heap.
    lease(std::unique_ptr<std::byte[]> own, std::uint32_t size) noexcept
        : data_(own.release()), size_(size) {}
    lease(lease&& other) noexcept
        : pool_(std::exchange(other.pool_, nullptr)), data_(std::exchange(other.data_, nullptr)),
          size_(std::exchange(other.size_, 0)), buffer_(other.buffer_) {}
    lease& operator=(lease&& other) noexcept {
        lease taken(std::move(other)); // itself, perhaps
        std::swap(pool_, taken.pool_);
        std::swap(data_, taken.data_);
        std::swap(size_, taken.size_);
        std::swap(buffer_, taken.buffer_);
        return *this;
    }
    ~lease() {
        if (pool_ != nullptr)
            pool_->give_back(buffer_);
        else
            delete[] data_;
    }

    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::span<std::byte const> bytes() const noexcept { return {data_, size_}; }
    explicit(false) operator std::span<std::byte const>() const noexcept { return bytes(); }
    /// Whether a buffer of the pool is held.
    [[nodiscard]] bool is_pooled() const noexcept { return pool_ != nullptr; }

  private:
    buffer_pool* pool_ = nullptr;
    std::byte* data_ = nullptr;
    std::uint32_t size_ = 0; // bytes
    std::uint16_t buffer_ = 0;
};
static_assert(sizeof(lease) == 24);

} // namespace pitsaw::inline v0
