#pragma once
#include <pitsaw/base/random.hpp>
#include <pitsaw/sim/disk.hpp>

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace pitsaw::inline v0::sim {

/// The directories of a disk: as the cache has them, as the disk has them, and the operations between.
///
/// A node is a file or a directory by number; `root` exists always, and 0 is nobody. Operations on one name
/// are durable in their order, and wholly or not at all. Threads: one.
class disk_names {
  public:
    static constexpr std::uint32_t nobody = 0, root = 1;
    static constexpr std::size_t unsynced_max = 1024; // then the kernel writes the oldest by itself
    using entries = std::map<std::string, std::uint32_t, std::less<>>;

    struct place {
        std::uint32_t directory = nobody;
        std::string name;
        friend bool operator==(place const&, place const&) = default;
    };

    disk_names() { add_directory(root); }

    void add_directory(std::uint32_t node) { directories_[node]; }
    [[nodiscard]] auto is_directory(std::uint32_t node) const -> bool { return directories_.contains(node); }
    [[nodiscard]] auto cached(std::uint32_t directory) const -> entries const& {
        return directories_.at(directory).cached;
    }
    [[nodiscard]] auto find(place const& where) const -> std::uint32_t; // or nobody
    [[nodiscard]] auto unsynced() const noexcept -> std::size_t { return operations_.size(); }

    void create(place const& where, std::uint32_t node);
    void rename(place const& from, place const& to);
    void remove(place const& where);

    /// What touches the directory is durable, and what it rests on. A rename between two waits for both.
    void sync(std::uint32_t directory);
    /// The power goes: each operation is lost or durable as it is drawn; the disk is all there is.
    void lose_power(random_source& random, disk_faults const& faults);

    /// The nodes that are still reached, from the root or from an operation that is not durable; directories
    /// that are not are forgotten.
    [[nodiscard]] auto collect() -> std::set<std::uint32_t>;

  private:
    struct listing {
        entries cached, durable;
    };
    struct effect {
        place where;
        std::uint32_t node = nobody; // what the name stands for afterwards
        bool is_synced = false;
    };
    struct operation {
        std::array<effect, 2> effects;
        std::uint32_t removed_directory = nobody;
    };

    void note(operation made);
    void write_where(std::vector<bool> const& chosen);
    [[nodiscard]] static auto touches(operation const& made, std::uint32_t directory) noexcept -> bool;
    [[nodiscard]] static auto rests_on(operation const& later, operation const& earlier) -> bool;
    static void set(entries& in, effect const& how);

    std::map<std::uint32_t, listing> directories_;
    std::deque<operation> operations_; // not durable, oldest first
};

} // namespace pitsaw::inline v0::sim
