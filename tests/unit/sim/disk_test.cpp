#include <pitsaw/sim/disk.hpp>

#include "disk_files.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace ps = pitsaw;
using ps::sim::disk;
using ps::sim::disk_file;
using ps::sim::disk_open_options;
using ps::sim::disk_options;
using namespace ps::testing;

namespace {

[[nodiscard]] std::span<std::byte const> bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text));
}

// ---- The example of its header

TEST(disk, keeps_what_was_synced_with_its_name) {
    disk_options options;
    auto const create = creating_disk_file();
    std::vector<std::byte> const record(1000, std::byte{1});
    ps::sim::disk disk(options);
    auto const log = disk.open("log", create).value();
    auto const wrote = disk.append(log, record); // perhaps not all of it
    bool const is_durable = disk.sync(log).has_value() && disk.sync_directory("").has_value();
    disk.power_loss(); // closes `log`; what was not synced may be gone
    EXPECT_TRUE(is_durable);
    EXPECT_EQ(content_at(disk, "log"), std::string(wrote.value(), '\x01'));
}

// ---- Calls

TEST(disk, reads_what_was_written_and_zeros_in_a_gap) {
    disk one(calm_disk());
    auto const file = make_disk_file(one, "a", "hello");
    EXPECT_EQ(one.write_at(file, 8, bytes_of("you")), 3u);
    EXPECT_EQ(content_of(one, file), (std::string("hello\0\0\0you", 11)));
    EXPECT_EQ(one.write_at(file, 0, bytes_of("J")), 1u);
    EXPECT_TRUE(one.truncate(file, 4).has_value());
    EXPECT_EQ(content_of(one, file), "Jell");
    EXPECT_TRUE(one.truncate(file, 6).has_value());
    EXPECT_EQ(content_of(one, file), (std::string("Jell\0\0", 6)));
    std::byte nothing{};
    EXPECT_EQ(one.read_at(file, 6, std::span(&nothing, 1)), 0u);
    EXPECT_EQ(one.write_at(file, 0, {}), 0u);
}

TEST(disk, opens_as_posix_says) {
    disk one(calm_disk());
    EXPECT_EQ(error_of(one.open("a")), std::errc::no_such_file_or_directory);
    auto const file = make_disk_file(one, "a", "text");
    auto exclusive = creating_disk_file();
    exclusive.exclusive = true;
    EXPECT_EQ(error_of(one.open("a", exclusive)), std::errc::file_exists);
    EXPECT_TRUE(one.make_directory("d").has_value());
    EXPECT_EQ(error_of(one.make_directory("d")), std::errc::file_exists);
    EXPECT_EQ(error_of(one.open("d")), std::errc::is_a_directory);
    EXPECT_EQ(error_of(one.open("a/b", creating_disk_file())), std::errc::not_a_directory);
    EXPECT_EQ(error_of(one.open("e/b", creating_disk_file())), std::errc::no_such_file_or_directory);
    EXPECT_EQ(error_of(one.open("", creating_disk_file())), std::errc::invalid_argument);
    EXPECT_EQ(error_of(one.open("..", creating_disk_file())), std::errc::invalid_argument);
    EXPECT_EQ(error_of(one.open(std::string(256, 'x'), creating_disk_file())), std::errc::filename_too_long);
    disk_open_options afresh;
    afresh.truncate = true;
    auto const again = one.open("a", afresh);
    ASSERT_TRUE(again.has_value());
    EXPECT_EQ(content_of(one, file), "");
    EXPECT_EQ(one.books().open_files, 2u);
}

TEST(disk, a_closed_file_is_no_file_also_when_its_number_is_used_again) {
    disk one(calm_disk());
    auto const first = make_disk_file(one, "a");
    EXPECT_TRUE(one.close(first).has_value());
    auto const second = make_disk_file(one, "a");
    EXPECT_EQ(second.index, first.index);
    EXPECT_NE(second, first);
    EXPECT_EQ(error_of(one.close(first)), std::errc::bad_file_descriptor);
    EXPECT_EQ(error_of(one.append(first, bytes_of("x"))), std::errc::bad_file_descriptor);
    EXPECT_EQ(error_of(one.sync_data(first)), std::errc::bad_file_descriptor);
    EXPECT_EQ(error_of(one.truncate(first, 0)), std::errc::bad_file_descriptor);
    EXPECT_EQ(error_of(one.size(disk_file())), std::errc::bad_file_descriptor);
    EXPECT_FALSE(static_cast<bool>(disk_file()));
}

TEST(disk, names_are_listed_renamed_and_removed) {
    disk one(calm_disk());
    (void)make_disk_file(one, "b", "b");
    (void)make_disk_file(one, "a", "a");
    EXPECT_TRUE(one.make_directory("d").has_value());
    EXPECT_EQ(one.list(""), (disk_names_list{"a", "b", "d"}));
    EXPECT_TRUE(one.rename("a", "d/a").has_value());
    EXPECT_EQ(one.list("d"), (disk_names_list{"a"}));
    EXPECT_EQ(error_of(one.remove("d")), std::errc::directory_not_empty);
    EXPECT_TRUE(one.rename("b", "d/a").has_value());
    EXPECT_EQ(content_at(one, "d/a"), "b");
    EXPECT_TRUE(one.rename("d/a", "d/a").has_value());
    EXPECT_EQ(error_of(one.rename("d/a", "d")), std::errc::is_a_directory);
    EXPECT_EQ(error_of(one.rename("d", "e")), std::errc::operation_not_supported);
    EXPECT_EQ(error_of(one.rename("x", "y")), std::errc::no_such_file_or_directory);
    EXPECT_TRUE(one.remove("d/a").has_value());
    EXPECT_TRUE(one.remove("d").has_value());
    EXPECT_EQ(error_of(one.remove("d")), std::errc::no_such_file_or_directory);
    EXPECT_EQ(one.list(""), disk_names_list());
    EXPECT_EQ(error_of(one.list("d")), std::errc::no_such_file_or_directory);
    EXPECT_EQ(error_of(one.sync_directory("d")), std::errc::no_such_file_or_directory);
}

TEST(disk, a_removed_file_lives_until_it_is_closed) {
    disk one(calm_disk());
    auto const file = make_disk_file(one, "a", "still here");
    EXPECT_TRUE(one.remove("a").has_value());
    EXPECT_EQ(content_of(one, file), "still here");
    EXPECT_EQ(one.books().used_bytes, 512u);
    EXPECT_TRUE(one.close(file).has_value());
    EXPECT_EQ(one.books().used_bytes, 0u);
    EXPECT_EQ(one.books().files, 0u);
}

TEST(disk, moves_less_than_asked_for_now_and_then) {
    disk_options options = calm_disk();
    options.faults.short_percent = 100;
    disk one(options);
    auto const file = make_disk_file(one, "a");
    for (int i = 0; i < 100; ++i) {
        auto const wrote = one.write_at(file, 0, bytes_of("hello"));
        ASSERT_TRUE(wrote.has_value() && *wrote >= 1 && *wrote < 5);
    }
    EXPECT_EQ(one.write_at(file, 4, bytes_of("o")), 1u); // one byte is never short
    std::array<std::byte, 5> into{};
    for (int i = 0; i < 100; ++i) {
        auto const got = one.read_at(file, 0, into);
        ASSERT_TRUE(got.has_value() && *got >= 1 && *got < 5);
    }
}

// ---- Limits

TEST(disk, a_full_disk_takes_what_fits_and_keeps_what_was_there) {
    disk_options options = calm_disk();
    options.capacity_bytes = 2048;
    disk one(options);
    auto const first = make_disk_file(one, "a", std::string(600, 'a')); // two sectors
    auto const second = make_disk_file(one, "b");
    EXPECT_EQ(one.append(second, bytes_of(std::string(2000, 'b'))), 1024u);
    EXPECT_EQ(error_of(one.append(second, bytes_of("b"))), std::errc::no_space_on_device);
    EXPECT_EQ(error_of(one.truncate(second, 1025)), std::errc::no_space_on_device);
    EXPECT_EQ(one.books().used_bytes, 2048u);
    EXPECT_EQ(one.append(first, bytes_of(std::string(1000, 'A'))), 424u); // what is left of its own sector
    EXPECT_EQ(one.write_at(first, 0, bytes_of("A")), 1u);
    EXPECT_EQ(content_of(one, second), std::string(1024, 'b'));
    EXPECT_TRUE(one.truncate(first, 512).has_value());
    EXPECT_EQ(one.append(second, bytes_of("c")), 1u);
}

TEST(disk, has_a_bound_on_everything) {
    disk_options options = calm_disk();
    options.file_bytes_max = 100;
    options.files_max = 2;
    options.open_max = 2;
    disk one(options);
    auto const file = make_disk_file(one, "a");
    EXPECT_EQ(one.append(file, bytes_of(std::string(101, 'a'))), 100u);
    EXPECT_EQ(error_of(one.append(file, bytes_of("a"))), std::errc::file_too_large);
    EXPECT_EQ(error_of(one.truncate(file, 101)), std::errc::file_too_large);
    EXPECT_TRUE(one.make_directory("d").has_value());
    EXPECT_EQ(error_of(one.open("b", creating_disk_file())), std::errc::no_space_on_device);
    EXPECT_EQ(error_of(one.make_directory("e")), std::errc::no_space_on_device);
    EXPECT_TRUE(one.open("a").has_value());
    EXPECT_EQ(error_of(one.open("a")), std::errc::too_many_files_open);
    EXPECT_TRUE(one.remove("d").has_value());
    one.kill();
    EXPECT_TRUE(one.open("b", creating_disk_file()).has_value());
}

TEST(disk, the_kernel_writes_by_itself_what_is_dirty_beyond_a_bound) {
    disk_options options = calm_disk();
    options.dirty_bytes_max = 4096;
    options.open_max = 4096;
    options.faults.lost_percent = 100;
    disk one(options);
    auto const file = make_durable_disk_file(one, "a", "");
    for (int i = 0; i < 100; ++i) ASSERT_EQ(one.append(file, bytes_of(std::string(512, 'a'))), 512u);
    EXPECT_LE(one.books().dirty_bytes, 4096u);
    for (int i = 0; i < 2000; ++i) (void)make_disk_file(one, "b" + std::to_string(i));
    EXPECT_LE(one.books().unsynced_names, 1024u);
    one.power_loss();
    EXPECT_EQ(content_at(one, "a"), std::string(92 * 512, 'a'));
    EXPECT_EQ(one.list("").value().size(), 1u + 2000 - 1024);
}

// ---- Syncs and their errors

TEST(disk, a_sync_that_fails_is_heard_once_and_loses_what_was_dirty) {
    disk_options options = calm_disk();
    options.faults.lost_percent = 100;
    disk one(options);
    auto const file = make_durable_disk_file(one, "a", "old");
    auto const other = one.open("a").value();
    EXPECT_EQ(one.write_at(file, 0, bytes_of("new")), 3u);
    one.faults().sync_error_percent = 100;
    EXPECT_EQ(error_of(one.sync(file)), std::errc::io_error);
    one.faults().sync_error_percent = 0;
    EXPECT_TRUE(one.sync(file).has_value()) << "the page is clean: there is nothing to write";
    EXPECT_EQ(error_of(one.sync(other)), std::errc::io_error) << "the other open file had not heard of it";
    EXPECT_TRUE(one.sync(other).has_value());
    auto const later = one.open("a").value();
    EXPECT_TRUE(one.sync(later).has_value()) << "opened after somebody had heard";
    EXPECT_EQ(content_of(one, file), "new");
    one.drop_caches();
    EXPECT_EQ(content_of(one, file), "old");
    EXPECT_EQ(one.books().failed_syncs, 1u);
    EXPECT_EQ(one.books().lost_writes, 1u);
}

TEST(disk, what_is_written_again_after_a_failed_sync_is_durable_with_its_whole_sector) {
    disk_options options = calm_disk();
    options.faults.lost_percent = 100;
    disk one(options);
    auto const file = make_durable_disk_file(one, "a", "old old");
    EXPECT_EQ(one.write_at(file, 0, bytes_of("new")), 3u);
    one.faults().sync_error_percent = 100;
    EXPECT_FALSE(one.sync(file).has_value());
    one.faults().sync_error_percent = 0;
    EXPECT_EQ(one.write_at(file, 4, bytes_of("new")), 3u);
    EXPECT_TRUE(one.sync(file).has_value());
    one.power_loss();
    EXPECT_EQ(content_at(one, "a"), "new new");
}

TEST(disk, an_error_of_the_kernels_own_writing_is_heard_by_who_syncs_or_opens_next) {
    disk_options options = calm_disk();
    options.faults.lost_percent = 100;
    disk one(options);
    auto const file = make_durable_disk_file(one, "a", "");
    EXPECT_EQ(one.append(file, bytes_of("text")), 4u);
    one.faults().sync_error_percent = 100;
    one.write_back();
    one.faults().sync_error_percent = 0;
    EXPECT_EQ(one.books().dirty_bytes, 0u);
    auto const later = one.open("a").value();
    EXPECT_EQ(error_of(one.sync(later)), std::errc::io_error) << "nobody had heard of it before";
    EXPECT_EQ(error_of(one.sync(file)), std::errc::io_error);
    one.drop_caches();
    EXPECT_EQ(content_of(one, file), (std::string("\0\0\0\0", 4)))
        << "the kernel knows the size, the data is gone";
}

TEST(disk, a_directory_whose_sync_failed_can_be_synced_again) {
    disk_options options = calm_disk();
    options.faults.lost_percent = 100;
    disk one(options);
    auto const file = make_disk_file(one, "a", "text");
    EXPECT_TRUE(one.sync(file).has_value());
    one.faults().sync_error_percent = 100;
    EXPECT_EQ(error_of(one.sync_directory("")), std::errc::io_error);
    EXPECT_EQ(one.books().unsynced_names, 1u);
    one.faults().sync_error_percent = 0;
    EXPECT_TRUE(one.sync_directory("").has_value());
    one.power_loss();
    EXPECT_EQ(content_at(one, "a"), "text");
}

TEST(disk, reads_and_writes_fail_without_effect) {
    disk one(calm_disk());
    auto const file = make_disk_file(one, "a", "text");
    one.faults().write_error_percent = 100;
    one.faults().read_error_percent = 100;
    EXPECT_EQ(error_of(one.write_at(file, 0, bytes_of("T"))), std::errc::io_error);
    EXPECT_EQ(error_of(one.truncate(file, 0)), std::errc::io_error);
    EXPECT_EQ(content_of(one, file), std::make_error_code(std::errc::io_error).message());
    one.faults().read_error_percent = 0;
    EXPECT_EQ(content_of(one, file), "text");
}

// ---- Time

TEST(disk, latency_is_drawn_from_the_seed_and_changes_nothing_else) {
    disk_options options = calm_disk(7);
    options.bytes_per_second = 1'000'000;
    options.faults.stall_percent = 50;
    disk one(options);
    disk same(options);
    disk asked_nothing(options);
    int stalls = 0;
    for (int i = 0; i < 100; ++i) {
        auto const cost = one.draw_latency(ps::sim::disk_call::write, 1000);
        EXPECT_EQ(cost, same.draw_latency(ps::sim::disk_call::write, 1000));
        EXPECT_GE(cost, options.access_min + std::chrono::milliseconds(1));
        if (cost >= options.stall) ++stalls;
        EXPECT_GE(one.draw_latency(ps::sim::disk_call::sync), options.sync_min);
        EXPECT_GE(same.draw_latency(ps::sim::disk_call::sync), options.sync_min);
    }
    EXPECT_GT(stalls, 10);
    EXPECT_LT(stalls, 90);
    for (auto* const each : {&one, &asked_nothing}) {
        auto const file = make_durable_disk_file(*each, "a", "");
        EXPECT_EQ(each->append(file, bytes_of(std::string(8192, 'n'))), 8192u);
        each->power_loss();
    }
    EXPECT_EQ(content_at(one, "a"), content_at(asked_nothing, "a"));
}

// ---- One seed, one run

[[nodiscard]] std::string everything_that_happens(std::uint64_t seed) {
    disk_options options;
    options.seed = seed;
    options.faults.sync_error_percent = 20;
    options.faults.write_error_percent = 20;
    disk one(options);
    std::string log;
    for (int round = 0; round < 5; ++round) {
        auto const file = make_disk_file(one, "file");
        for (int i = 0; i < 10; ++i) {
            std::string const text(1000, static_cast<char>('a' + i));
            log += std::to_string(one.append(file, std::as_bytes(std::span(text))).value_or(0)) + ' ';
            log += one.sync(file).has_value() ? "synced " : "failed ";
        }
        log += one.sync_directory("").has_value() ? "named " : "nameless ";
        one.power_loss();
        log += content_of(one, make_disk_file(one, "file"));
    }
    return log;
}

TEST(disk, the_same_seed_is_the_same_run) {
    std::set<std::string> runs;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        auto const run = everything_that_happens(seed);
        ASSERT_EQ(everything_that_happens(seed), run);
        runs.insert(run);
    }
    EXPECT_EQ(runs.size(), 100u);
}

} // namespace
