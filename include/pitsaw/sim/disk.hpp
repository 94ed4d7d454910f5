#pragma once
#include <pitsaw/base/clock.hpp>
#include <pitsaw/io/result.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pitsaw::inline v0::sim {

/// What goes wrong on a simulated disk, in percent of the calls; it may be changed at any time. A short read
/// or write is no fault: POSIX allows it at any time.
struct disk_faults {
    disk_faults() {}

    double short_percent = 5;       ///< a read or write of several bytes moves only some of them
    double read_error_percent = 0;  ///< a read fails (EIO)
    double write_error_percent = 0; ///< a write or truncation fails (EIO) and has changed nothing
    double sync_error_percent = 0;  ///< a sync, or the kernel's own write-back of a file, fails (EIO)
    /// Of what was not synced when the power goes or a sync fails, this much is lost wholly, this much in
    /// part (some of its sectors), and the rest survives.
    double lost_percent = 40;
    double torn_percent = 30;
    double stall_percent = 0; ///< a call takes `disk_options::stall` longer
};

/// How a simulated disk is made.
struct disk_options {
    disk_options() {}

    std::uint64_t seed = 0; ///< each choice comes from it; the same seed and the same calls give the same run
    disk_faults faults;
    std::uint64_t capacity_bytes = 64 << 20; ///< of files, each rounded up to sectors
    std::uint32_t sector_bytes = 512;        ///< what survives as a whole or not; a power of two, at least 16
    std::uint64_t file_bytes_max = 16 << 20; ///< beyond it: EFBIG
    std::uint32_t files_max = 4096;          ///< files and directories; beyond it: ENOSPC
    std::uint32_t open_max = 1024;           ///< beyond it: EMFILE
    std::uint64_t dirty_bytes_max = 16 << 20; ///< of a file; beyond it the kernel writes the oldest itself
    duration access_min = std::chrono::microseconds(20); ///< what `draw_latency` draws from
    duration access_max = std::chrono::microseconds(200);
    duration sync_min = std::chrono::microseconds(500);
    duration sync_max = std::chrono::milliseconds(20);
    duration stall = std::chrono::seconds(1);
    std::uint64_t bytes_per_second = 500'000'000; ///< in addition, for each byte; 0: no such addition
};

/// An open file of a simulated disk: a value, which means nothing once it was closed, also by `kill` or
/// `power_loss`.
struct disk_file {
    std::uint32_t index = 0;
    std::uint32_t generation = 0; ///< 0: none

    [[nodiscard]] explicit operator bool() const noexcept { return generation != 0; }
    friend bool operator==(disk_file const&, disk_file const&) = default;
};

/// What becomes of the name that is opened.
struct disk_open_options {
    bool create = false;    ///< O_CREAT
    bool exclusive = false; ///< with `create`: O_EXCL
    bool truncate = false;  ///< O_TRUNC
};

/// What a call costs is drawn for one of these.
enum class disk_call : std::uint8_t { read, write, sync, names };

/// A simulated disk's books.
struct disk_books {
    std::uint64_t used_bytes = 0;  ///< of the capacity: files that have a name or are open, in whole sectors
    std::uint64_t dirty_bytes = 0; ///< of changes that are not written yet, each in whole sectors
    std::uint64_t lost_writes = 0; ///< since the beginning: wholly or in part, by power loss or a failed sync
    std::uint64_t failed_syncs = 0; ///< likewise, the kernel's own included
    std::uint32_t files = 0;        ///< with a name or open; directories, the root not counted, too
    std::uint32_t open_files = 0;
    std::uint32_t unsynced_names = 0; ///< creations, renames and removals that a power loss may take back
};

/// The disk of one simulated machine, with the file system that its kernel shows: calls that never wait, give
/// what a kernel would, and lose what a kernel may lose.
///
/// ```cpp
/// ps::sim::disk disk(options); // options.seed says what will go wrong
/// auto const log = disk.open("log", create).value();
/// auto const wrote = disk.append(log, record); // perhaps not all of it
/// bool const is_durable = disk.sync(log).has_value() && disk.sync_directory("").has_value();
/// disk.power_loss(); // closes `log`; what was not synced may be gone
/// ```
/// Storage code reaches it through a seam of its own, a template parameter or an interface with these calls,
/// and is shown to keep what it has acknowledged: run it with many seeds, take the power away anywhere,
/// recover, compare.
///
/// The model is what POSIX allows and ext4 and XFS do on Linux, without what they do in addition:
/// - A write is in the page cache, read by all, and durable after `sync` (fsync). At a power loss each sector
///   has the content of some moment since its last sync: each write survives, is lost, or is torn between
///   sectors, in any order. Where a file has grown, zeros may stand for data that is lost (T. S. Pillai et
///   al., "All File Systems Are Not Created Equal", OSDI 2014, where file systems differ in all of this).
/// - A sync that fails has written some sectors, and the others are clean from then on: they are read as if
///   nothing had happened, and no later sync writes them. Each open file hears of the error once; one that is
///   opened later hears of it if nobody has (Linux since 4.13, errseq_t; A. Rebello et al., "Can Applications
///   Recover from fsync Failures?", USENIX ATC 2020). So after an error write the data again, and then sync.
///   `drop_caches` shows what is on the disk.
/// - A name that was created, renamed or removed is durable after `sync_directory` of its directory; a rename
///   from one to another, after that of both. At a power loss each such operation has happened wholly or not
///   at all, and not without an earlier one on the same name. Syncing a file says nothing of its name. If
///   `sync_directory` fails, all is as before, and may be synced again (ext4 would be read-only from then
///   on).
/// - A full disk takes what fits, then gives ENOSPC; what is there already can be overwritten. Holes cost as
///   much as data. A removal that a power loss takes back may leave more than fits.
///
/// Paths are names with `/` between them, from the root, which is "". Lifetime: an object; what it gives are
/// values. Threads: one. Errors: in the results: what POSIX gives in the same place, and whichever faults the
/// options ask for. Stopping: no call waits; what it would have cost is `draw_latency`, for who wants to wait
/// so long. Sizes: what is in it, twice, and each change since the last sync, in whole sectors, up to
/// `dirty_bytes_max` for each file and 1,024 changed names; names have at most 255 bytes.
class disk {
  public:
    explicit disk(disk_options options = {});
    disk(disk&&) = delete;
    ~disk();

    // ---- Names

    [[nodiscard]] io_result<disk_file> open(std::string_view path, disk_open_options how = {});
    io_result<void> close(disk_file file);
    io_result<void> make_directory(std::string_view path);
    /// Replaces what `to` named, which then is reached through open files alone. Files only.
    io_result<void> rename(std::string_view from, std::string_view to);
    /// A file's name, or an empty directory.
    io_result<void> remove(std::string_view path);
    [[nodiscard]] io_result<std::vector<std::string>> list(std::string_view directory) const;
    [[nodiscard]] io_result<void> sync_directory(std::string_view path);

    // ---- Content

    /// How many bytes were read: 0 at the end, and perhaps less than there are.
    [[nodiscard]] io_result<std::size_t> read_at(disk_file from, std::uint64_t offset,
                                                 std::span<std::byte> into);
    /// How many bytes were written; behind the end the file grows, and zeros fill a gap.
    [[nodiscard]] io_result<std::size_t> write_at(disk_file to, std::uint64_t offset,
                                                  std::span<std::byte const> bytes);
    [[nodiscard]] io_result<std::size_t> append(disk_file to, std::span<std::byte const> bytes);
    [[nodiscard]] io_result<void> truncate(disk_file file, std::uint64_t bytes);
    [[nodiscard]] io_result<std::uint64_t> size(disk_file file) const;
    [[nodiscard]] io_result<void> sync(disk_file file);
    /// The same here, where a file has no times: fdatasync writes the size as well.
    [[nodiscard]] io_result<void> sync_data(disk_file file) { return sync(file); }

    // ---- What happens to the machine

    /// The process ends: its files are closed, and nothing is lost.
    void kill();
    /// The machine stops: files are closed, and what was not synced is as the seed says.
    void power_loss();
    /// The kernel writes by itself what is dirty; of a failure the next sync of the file hears.
    void write_back();
    /// The kernel forgets what is clean: what a failed sync has lost is no longer read.
    void drop_caches();

    /// While it cannot be reached, calls that name something give EIO.
    void set_reachable(bool is_reachable) noexcept;

    /// What goes wrong from now on.
    [[nodiscard]] disk_faults& faults() noexcept;
    /// What such a call would have cost. Asking changes no other choice.
    [[nodiscard]] duration draw_latency(disk_call what, std::size_t bytes = 0);
    [[nodiscard]] disk_books books() const;

  private:
    struct parts;
    std::unique_ptr<parts> parts_;
};

} // namespace pitsaw::inline v0::sim
