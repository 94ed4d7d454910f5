#include <pitsaw/sim/disk.hpp>

#include <pitsaw/base/check.hpp>
#include <pitsaw/base/random.hpp>

#include "sim/disk_content.hpp"
#include "sim/disk_names.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

namespace pitsaw::inline v0::sim {

namespace {

constexpr std::size_t name_bytes_max = 255; // NAME_MAX of Linux
constexpr auto done = io_result<void>();

[[nodiscard]] auto failed(std::errc why) { return std::unexpected(std::make_error_code(why)); }

} // namespace

struct disk::parts {
    struct file {
        disk_content content;
        std::uint32_t names = 0; // 0 or 1: there are no links
        std::uint32_t opens = 0;
        // Linux's errseq_t: how many errors there were, and whether anybody has heard of the last one.
        std::uint64_t errors = 0;
        bool is_error_seen = true;

        [[nodiscard]] auto counts() const noexcept -> bool { return names + opens > 0; }
    };

    struct handle {
        std::uint32_t node = disk_names::nobody; // nobody: closed
        std::uint32_t generation = 0;
        std::uint64_t errors_heard = 0;
    };

    disk_options options;
    random_source random;
    random_source latencies; // apart, so that asking for one changes nothing else
    disk_names names;
    std::map<std::uint32_t, file> files; // those that have a name, are open, or may come back
    std::vector<handle> handles;
    std::vector<std::uint32_t> free_handles;
    std::uint32_t last_node = disk_names::root;
    std::uint64_t used_sectors = 0;
    disk_books totals;

    explicit parts(disk_options given)
        : options(std::move(given)), random(options.seed), latencies(options.seed ^ 0x6c6174656e6379) {
        check(std::has_single_bit(options.sector_bytes) && options.sector_bytes >= 16,
              "a simulated disk's sector has a power of two of bytes, at least 16");
    }

    // ---- Choices

    [[nodiscard]] auto happens(double percent) -> bool { return random.chance(percent / 100); }

    /// How much of a transfer is done: some of it, now and then.
    [[nodiscard]] auto part_of(std::size_t bytes) -> std::size_t {
        if (bytes < 2 || !happens(options.faults.short_percent)) return bytes;
        return 1 + random.below(bytes - 1);
    }

    // ---- Paths

    struct split_path {
        std::string_view parent, name;
    };
    static auto split(std::string_view path) -> split_path {
        auto const slash = path.rfind('/');
        if (slash == std::string_view::npos) return {{}, path};
        return {path.substr(0, slash), path.substr(slash + 1)};
    }

    [[nodiscard]] auto directory_at(std::string_view path) const -> io_result<std::uint32_t> {
        if (!is_reachable) return failed(std::errc::io_error);
        auto node = disk_names::root;
        while (!path.empty()) {
            auto const name = path.substr(0, path.find('/'));
            path.remove_prefix(std::min(name.size() + 1, path.size()));
            node = names.find({node, std::string(name)});
            if (node == disk_names::nobody) return failed(std::errc::no_such_file_or_directory);
            if (!names.is_directory(node)) return failed(std::errc::not_a_directory);
        }
        return node;
    }

    [[nodiscard]] auto place_at(std::string_view path) const -> io_result<disk_names::place> {
        auto const [parent, name] = split(path);
        if (name.empty() || name == "." || name == "..") return failed(std::errc::invalid_argument);
        if (name.size() > name_bytes_max) return failed(std::errc::filename_too_long);
        auto const directory = directory_at(parent);
        if (!directory.has_value()) return std::unexpected(directory.error());
        return disk_names::place{*directory, std::string(name)};
    }

    // ---- Files

    bool is_reachable = true;

    [[nodiscard]] auto open_at(disk_file which) -> handle* {
        if (which.index >= handles.size()) return nullptr;
        auto& found = handles[which.index];
        bool const is_open = found.node != disk_names::nobody && found.generation == which.generation;
        return is_open ? &found : nullptr;
    }
    [[nodiscard]] auto file_of(disk_file which) -> file* {
        auto const* const found = open_at(which);
        return found == nullptr ? nullptr : &files.at(found->node);
    }

    [[nodiscard]] auto count_used() -> std::uint32_t {
        used_sectors = 0;
        std::uint32_t count = 0;
        for (auto const& [node, one] : files) {
            if (!one.counts()) continue;
            used_sectors += one.content.sectors();
            ++count;
        }
        return count;
    }

    /// Forgets what nothing can bring back, and counts again.
    void collect() {
        auto const reached = names.collect();
        std::erase_if(files,
                      [&](auto const& one) { return !one.second.counts() && !reached.contains(one.first); });
        totals.files = count_used() + count_directories(disk_names::root);
    }
    [[nodiscard]] auto count_directories(std::uint32_t under) const -> std::uint32_t {
        std::uint32_t count = 0;
        for (auto const& [name, node] : names.cached(under))
            if (names.is_directory(node)) count += 1 + count_directories(node);
        return count;
    }

    void lose_name(std::uint32_t node) {
        auto const found = files.find(node);
        if (found != files.end()) --found->second.names;
    }

    [[nodiscard]] auto is_full_of_files() const noexcept -> bool { return totals.files >= options.files_max; }
    [[nodiscard]] auto new_node() noexcept -> std::uint32_t { return ++last_node; }

    void close_all() {
        for (std::uint32_t i = 0; i < handles.size(); ++i)
            if (handles[i].node != disk_names::nobody) close(i);
        collect();
    }
    void close(std::uint32_t index) {
        auto& which = handles[index];
        --files.at(which.node).opens;
        which.node = disk_names::nobody;
        free_handles.push_back(index);
        --totals.open_files;
    }

    /// Names of the cache again, after the power was lost.
    void count_names(std::uint32_t under) {
        for (auto const& [name, node] : names.cached(under)) {
            if (names.is_directory(node))
                count_names(node);
            else
                ++files.at(node).names;
        }
    }

    // ---- Content

    /// How far a file may grow on what is free.
    [[nodiscard]] auto room_for(file const& which) const noexcept -> std::uint64_t {
        auto const capacity = options.capacity_bytes / options.sector_bytes;
        auto const own = which.content.sectors();
        auto const free = capacity > used_sectors ? capacity - used_sectors : 0;
        return (own + free) * options.sector_bytes;
    }

    template <class Change> void change(file& which, Change how) {
        used_sectors -= which.content.sectors();
        how(which.content);
        used_sectors += which.content.sectors();
        which.content.write_oldest(options.dirty_bytes_max);
    }

    /// Writes what is dirty, or fails.
    void write_out(file& which) {
        if (!happens(options.faults.sync_error_percent)) return which.content.write_all();
        totals.lost_writes += which.content.settle(random, options.faults);
        ++totals.failed_syncs;
        ++which.errors;
        which.is_error_seen = false;
    }
};

disk::disk(disk_options options) : parts_(std::make_unique<parts>(std::move(options))) {}
disk::~disk() = default;

// ---- Names

io_result<disk_file> disk::open(std::string_view path, disk_open_options how) {
    auto& own = *parts_;
    auto const where = own.place_at(path);
    if (!where.has_value()) return std::unexpected(where.error());
    if (own.totals.open_files >= own.options.open_max) return failed(std::errc::too_many_files_open);
    auto node = own.names.find(*where);
    if (node != disk_names::nobody) {
        if (how.create && how.exclusive) return failed(std::errc::file_exists);
        if (own.names.is_directory(node)) return failed(std::errc::is_a_directory);
    } else {
        if (!how.create) return failed(std::errc::no_such_file_or_directory);
        if (own.is_full_of_files()) return failed(std::errc::no_space_on_device);
        node = own.new_node();
        parts::file made{.content = disk_content(own.options.sector_bytes)};
        made.names = 1;
        own.files.emplace(node, std::move(made));
        own.names.create(*where, node);
        ++own.totals.files;
    }
    auto& file = own.files.at(node);
    if (how.truncate) own.change(file, [](disk_content& content) { content.resize(0); });
    if (own.free_handles.empty()) {
        own.free_handles.push_back(static_cast<std::uint32_t>(own.handles.size()));
        own.handles.emplace_back();
    }
    auto const index = own.free_handles.back();
    own.free_handles.pop_back();
    auto& handle = own.handles[index];
    handle.node = node;
    ++handle.generation;
    handle.errors_heard = file.is_error_seen ? file.errors : file.errors - 1;
    ++file.opens;
    ++own.totals.open_files;
    return disk_file{index, handle.generation};
}

io_result<void> disk::close(disk_file file) {
    auto& own = *parts_;
    auto const* const open = own.open_at(file);
    if (open == nullptr) return failed(std::errc::bad_file_descriptor);
    auto const node = open->node;
    own.close(file.index);
    if (!own.files.at(node).counts()) own.collect();
    return done;
}

io_result<void> disk::make_directory(std::string_view path) {
    auto& own = *parts_;
    auto const where = own.place_at(path);
    if (!where.has_value()) return std::unexpected(where.error());
    if (own.names.find(*where) != disk_names::nobody) return failed(std::errc::file_exists);
    if (own.is_full_of_files()) return failed(std::errc::no_space_on_device);
    auto const node = own.new_node();
    own.names.add_directory(node);
    own.names.create(*where, node);
    ++own.totals.files;
    return done;
}

io_result<void> disk::rename(std::string_view from, std::string_view to) {
    auto& own = *parts_;
    auto const old_place = own.place_at(from);
    if (!old_place.has_value()) return std::unexpected(old_place.error());
    auto const new_place = own.place_at(to);
    if (!new_place.has_value()) return std::unexpected(new_place.error());
    auto const node = own.names.find(*old_place);
    if (node == disk_names::nobody) return failed(std::errc::no_such_file_or_directory);
    if (own.names.is_directory(node)) return failed(std::errc::operation_not_supported);
    if (*old_place == *new_place) return done;
    auto const replaced = own.names.find(*new_place);
    if (replaced != disk_names::nobody && own.names.is_directory(replaced))
        return failed(std::errc::is_a_directory);
    own.names.rename(*old_place, *new_place);
    own.lose_name(replaced);
    if (replaced != disk_names::nobody) own.collect();
    return done;
}

io_result<void> disk::remove(std::string_view path) {
    auto& own = *parts_;
    auto const where = own.place_at(path);
    if (!where.has_value()) return std::unexpected(where.error());
    auto const node = own.names.find(*where);
    if (node == disk_names::nobody) return failed(std::errc::no_such_file_or_directory);
    if (own.names.is_directory(node) && !own.names.cached(node).empty())
        return failed(std::errc::directory_not_empty);
    own.names.remove(*where);
    own.lose_name(node);
    own.collect();
    return done;
}

io_result<std::vector<std::string>> disk::list(std::string_view directory) const {
    auto const node = parts_->directory_at(directory);
    if (!node.has_value()) return std::unexpected(node.error());
    std::vector<std::string> all;
    for (auto const& [name, child] : parts_->names.cached(*node)) all.push_back(name);
    return all;
}

io_result<void> disk::sync_directory(std::string_view path) {
    auto& own = *parts_;
    auto const node = own.directory_at(path);
    if (!node.has_value()) return std::unexpected(node.error());
    if (own.happens(own.options.faults.sync_error_percent)) {
        ++own.totals.failed_syncs;
        return failed(std::errc::io_error);
    }
    own.names.sync(*node);
    own.collect();
    return done;
}

// ---- Content

io_result<std::size_t> disk::read_at(disk_file from, std::uint64_t offset, std::span<std::byte> into) {
    auto& own = *parts_;
    auto const* const file = own.file_of(from);
    if (file == nullptr) return failed(std::errc::bad_file_descriptor);
    if (own.happens(own.options.faults.read_error_percent)) return failed(std::errc::io_error);
    auto const bytes = file->content.bytes();
    if (offset >= bytes.size()) return std::size_t{0};
    auto const count = own.part_of(std::min<std::uint64_t>(into.size(), bytes.size() - offset));
    std::ranges::copy(bytes.subspan(offset, count), into.begin());
    return count;
}

io_result<std::size_t> disk::write_at(disk_file to, std::uint64_t offset, std::span<std::byte const> bytes) {
    auto& own = *parts_;
    auto* const file = own.file_of(to);
    if (file == nullptr) return failed(std::errc::bad_file_descriptor);
    if (own.happens(own.options.faults.write_error_percent)) return failed(std::errc::io_error);
    if (bytes.empty()) return std::size_t{0};
    if (offset >= own.options.file_bytes_max) return failed(std::errc::file_too_large);
    auto const room = own.room_for(*file);
    if (offset >= room) return failed(std::errc::no_space_on_device);
    auto const most = std::min(room, own.options.file_bytes_max) - offset;
    auto const count = own.part_of(std::min<std::uint64_t>(bytes.size(), most));
    own.change(*file, [&](disk_content& content) { content.write(offset, bytes.first(count)); });
    return count;
}

io_result<std::size_t> disk::append(disk_file to, std::span<std::byte const> bytes) {
    auto const* const file = parts_->file_of(to);
    if (file == nullptr) return failed(std::errc::bad_file_descriptor);
    return write_at(to, file->content.size(), bytes);
}

io_result<void> disk::truncate(disk_file which, std::uint64_t bytes) {
    auto& own = *parts_;
    auto* const file = own.file_of(which);
    if (file == nullptr) return failed(std::errc::bad_file_descriptor);
    if (own.happens(own.options.faults.write_error_percent)) return failed(std::errc::io_error);
    if (bytes > own.options.file_bytes_max) return failed(std::errc::file_too_large);
    if (bytes > own.room_for(*file)) return failed(std::errc::no_space_on_device);
    own.change(*file, [&](disk_content& content) { content.resize(bytes); });
    return done;
}

io_result<std::uint64_t> disk::size(disk_file file) const {
    auto const* const found = parts_->file_of(file);
    if (found == nullptr) return failed(std::errc::bad_file_descriptor);
    return found->content.size();
}

io_result<void> disk::sync(disk_file which) {
    auto& own = *parts_;
    auto* const open = own.open_at(which);
    if (open == nullptr) return failed(std::errc::bad_file_descriptor);
    auto& file = own.files.at(open->node);
    own.write_out(file);
    if (open->errors_heard == file.errors) return done;
    open->errors_heard = file.errors;
    file.is_error_seen = true;
    return failed(std::errc::io_error);
}

// ---- What happens to the machine

void disk::kill() { parts_->close_all(); }

void disk::power_loss() {
    auto& own = *parts_;
    for (auto& [node, file] : own.files) {
        own.totals.lost_writes += file.content.settle(own.random, own.options.faults);
        file.content.forget_all();
        file.names = 0;
        file.errors = 0;
        file.is_error_seen = true;
    }
    own.names.lose_power(own.random, own.options.faults);
    own.count_names(disk_names::root);
    own.close_all();
}

void disk::write_back() {
    auto& own = *parts_;
    for (auto& [node, file] : own.files)
        if (file.counts() && file.content.dirty_bytes() > 0) own.write_out(file);
}

void disk::drop_caches() {
    for (auto& [node, file] : parts_->files) file.content.forget_clean();
}

void disk::set_reachable(bool const is_reachable) noexcept { parts_->is_reachable = is_reachable; }

disk_faults& disk::faults() noexcept { return parts_->options.faults; }

duration disk::draw_latency(disk_call what, std::size_t bytes) {
    auto& own = *parts_;
    auto const& options = own.options;
    bool const is_sync = what == disk_call::sync;
    auto const low = is_sync ? options.sync_min : options.access_min;
    auto const high = is_sync ? options.sync_max : options.access_max;
    auto cost = duration(own.latencies.between(low.count(), std::max(low, high).count()));
    if (options.bytes_per_second > 0) {
        wide_integer const nanoseconds = wide_integer{bytes} * 1'000'000'000 / options.bytes_per_second;
        cost += duration(static_cast<std::int64_t>(std::min<wide_integer>(nanoseconds, INT64_MAX / 4)));
    }
    if (own.latencies.chance(options.faults.stall_percent / 100)) cost += options.stall;
    return cost;
}

disk_books disk::books() const {
    auto books = parts_->totals;
    books.used_bytes = parts_->used_sectors * parts_->options.sector_bytes;
    books.unsynced_names = static_cast<std::uint32_t>(parts_->names.unsynced());
    for (auto const& [node, file] : parts_->files) books.dirty_bytes += file.content.dirty_bytes();
    return books;
}

} // namespace pitsaw::inline v0::sim
