#pragma once
#include <pitsaw/base/random.hpp>
#include <pitsaw/sim/disk.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace pitsaw::inline v0::sim {

/// What becomes of something that was not synced.
enum class fate : std::uint8_t { lost, torn, whole };

[[nodiscard]] auto draw_fate(random_source& random, disk_faults const& faults) -> fate;

/// The bytes of one file: as the page cache has them, as the disk has them, and the changes between.
///
/// A change holds its sectors as the cache had them right after it, and not the bytes that were written: a
/// kernel writes whole sectors, so bytes of an earlier write to the same sector go with it, also those that a
/// failed sync had left behind. Threads: one.
class disk_content {
  public:
    explicit disk_content(std::size_t sector_bytes) noexcept : sector_(sector_bytes) {}

    [[nodiscard]] auto bytes() const noexcept -> std::span<std::byte const> { return cached_; }
    [[nodiscard]] auto size() const noexcept -> std::uint64_t { return cached_.size(); }
    [[nodiscard]] auto sectors() const noexcept -> std::uint64_t { return sectors_of(cached_.size()); }
    [[nodiscard]] auto sectors_of(std::uint64_t bytes) const noexcept -> std::uint64_t {
        return (bytes + sector_ - 1) / sector_;
    }
    [[nodiscard]] auto dirty_bytes() const noexcept -> std::uint64_t { return dirty_; }

    void write(std::uint64_t offset, std::span<std::byte const> bytes);
    void resize(std::uint64_t bytes);

    /// The oldest changes become durable until at most this much is dirty.
    void write_oldest(std::uint64_t dirty_bytes_max);
    /// What is dirty becomes durable, and the size, which no failed sync loses for ever as it does data.
    void write_all() {
        write_oldest(0);
        durable_.resize(cached_.size());
    }
    /// Each change has the fate that is drawn for it, and none is dirty afterwards. Gives how many were not
    /// written as a whole. The cache stays as it is.
    [[nodiscard]] auto settle(random_source& random, disk_faults const& faults) -> std::uint64_t;
    /// The cache holds what is on the disk, and what is dirty; the size stays.
    void forget_clean();
    /// The power has gone, and what was dirty is settled: the disk is all there is.
    void forget_all() { cached_ = durable_; }

  private:
    struct change {
        bool is_resize;
        std::uint64_t first_byte;       // of its first sector
        std::uint64_t size_after;       // of the file, bytes
        std::vector<std::byte> content; // whole sectors
    };

    void note(change made);
    [[nodiscard]] static auto cost_of(change const& made) noexcept -> std::uint64_t;
    void write_sector(std::vector<std::byte>& to, change const& from, std::size_t which) const;
    void apply(std::vector<std::byte>& to, change const& made) const;
    [[nodiscard]] auto tear(change const& made, random_source& random) -> bool;

    std::size_t sector_; // bytes
    std::vector<std::byte> cached_;
    std::vector<std::byte> durable_;
    std::deque<change> changes_; // since the last sync, oldest first
    std::uint64_t dirty_ = 0;    // what they cost
};

} // namespace pitsaw::inline v0::sim
