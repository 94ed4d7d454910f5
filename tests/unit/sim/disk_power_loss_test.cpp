#include <pitsaw/sim/disk.hpp>

#include "disk_files.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

namespace ps = pitsaw;
using ps::sim::disk;
using ps::sim::disk_options;
using namespace ps::testing;

namespace {

[[nodiscard]] std::span<std::byte const> bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text));
}

// ---- The end of a process and of a machine

TEST(disk, the_end_of_a_process_loses_nothing_but_its_open_files) {
    disk one(calm_disk());
    auto const file = make_disk_file(one, "a", "text");
    auto const gone = make_disk_file(one, "b", "no name");
    EXPECT_TRUE(one.remove("b").has_value());
    one.kill();
    EXPECT_EQ(content_at(one, "a"), "text");
    EXPECT_EQ(error_of(one.size(file)), std::errc::bad_file_descriptor);
    EXPECT_EQ(error_of(one.size(gone)), std::errc::bad_file_descriptor);
    EXPECT_EQ(one.books().files, 1u);
    EXPECT_EQ(one.books().open_files, 0u);
}

TEST(disk, what_was_not_synced_is_gone_with_the_power) {
    disk_options options = calm_disk();
    options.faults.lost_percent = 100;
    disk one(options);
    auto const file = make_durable_disk_file(one, "a", "old");
    EXPECT_EQ(one.write_at(file, 0, bytes_of("new and longer")), 14u);
    (void)make_disk_file(one, "b", "no name is durable");
    EXPECT_TRUE(one.rename("a", "c").has_value());
    one.power_loss();
    EXPECT_EQ(one.list(""), (disk_names_list{"a"}));
    EXPECT_EQ(content_at(one, "a"), "old");
    EXPECT_EQ(error_of(one.size(file)), std::errc::bad_file_descriptor);
    EXPECT_EQ(one.books().unsynced_names, 0u);
    EXPECT_EQ(one.books().files, 1u);
}

TEST(disk, a_name_that_is_durable_says_nothing_of_the_content_nor_the_other_way_round) {
    disk_options options = calm_disk();
    options.faults.lost_percent = 100;
    disk one(options);
    (void)make_disk_file(one, "named", "text");
    EXPECT_TRUE(one.sync_directory("").has_value());
    auto const file = make_disk_file(one, "nameless", "text");
    EXPECT_TRUE(one.sync(file).has_value());
    one.power_loss();
    EXPECT_EQ(one.list(""), (disk_names_list{"named"}));
    EXPECT_EQ(content_at(one, "named"), "");
}

TEST(disk, a_file_in_a_directory_needs_the_name_of_both) {
    disk_options options = calm_disk();
    options.faults.lost_percent = 100;
    disk one(options);
    EXPECT_TRUE(one.make_directory("d").has_value());
    EXPECT_TRUE(one.sync(make_disk_file(one, "d/a", "text")).has_value());
    EXPECT_TRUE(one.sync_directory("d").has_value());
    one.power_loss();
    EXPECT_EQ(one.list(""), disk_names_list());
    EXPECT_TRUE(one.make_directory("d").has_value());
    EXPECT_TRUE(one.sync(make_disk_file(one, "d/a", "text")).has_value());
    EXPECT_TRUE(one.sync_directory("d").has_value());
    EXPECT_TRUE(one.sync_directory("").has_value());
    one.power_loss();
    EXPECT_EQ(content_at(one, "d/a"), "text");
}

TEST(disk, a_rename_between_directories_is_durable_once_both_are_synced) {
    disk_options options = calm_disk();
    options.faults.lost_percent = 100;
    for (bool const both : {false, true}) {
        disk one(options);
        EXPECT_TRUE(one.make_directory("d").has_value());
        (void)make_durable_disk_file(one, "a", "text");
        EXPECT_TRUE(one.rename("a", "d/b").has_value());
        EXPECT_TRUE(one.sync_directory("d").has_value());
        if (both) {
            EXPECT_TRUE(one.sync_directory("").has_value());
        }
        one.power_loss();
        EXPECT_EQ(content_at(one, both ? "d/b" : "a"), "text");
        EXPECT_EQ(one.list(both ? "" : "d"), both ? disk_names_list{"d"} : disk_names_list());
    }
}

TEST(disk, what_a_synced_name_rests_on_is_durable_with_it) {
    disk_options options = calm_disk();
    options.faults.lost_percent = 100;
    disk one(options);
    EXPECT_TRUE(one.make_directory("d").has_value());
    (void)make_durable_disk_file(one, "a", "old");
    EXPECT_TRUE(one.rename("a", "d/b").has_value()); // waits for a sync of both,
    EXPECT_TRUE(one.sync(make_disk_file(one, "a", "new")).has_value());
    EXPECT_TRUE(one.sync_directory("").has_value()); // but a new `a` cannot be there beside the old one
    one.power_loss();
    EXPECT_EQ(content_at(one, "a"), "new");
    EXPECT_EQ(content_at(one, "d/b"), "old");
}

TEST(disk, a_power_loss_may_tear_a_write_and_a_write_may_survive) {
    int kinds = 0; // bits: lost, torn, whole
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        disk one(calm_disk(seed));
        auto const file = make_durable_disk_file(one, "a", std::string(2048, 'o'));
        EXPECT_EQ(one.write_at(file, 0, bytes_of(std::string(2048, 'n'))), 2048u);
        one.power_loss();
        auto const text = content_at(one, "a");
        auto const changed = std::ranges::count(text, 'n');
        EXPECT_EQ(changed % 512, 0);
        kinds |= changed == 0 ? 1 : changed < 2048 ? 2 : 4;
    }
    EXPECT_EQ(kinds, 7);
}

TEST(disk, a_file_may_have_grown_without_its_data) {
    int zeros = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        disk one(calm_disk(seed));
        auto const file = make_durable_disk_file(one, "a", "");
        EXPECT_EQ(one.append(file, bytes_of(std::string(1024, 'n'))), 1024u);
        one.power_loss();
        auto const text = content_at(one, "a");
        if (text.contains('\0')) ++zeros;
    }
    EXPECT_GT(zeros, 0);
}

TEST(disk, what_comes_back_may_not_fit_and_is_there_all_the_same) {
    int found = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        auto options = calm_disk(seed);
        options.capacity_bytes = 1024;
        disk one(options);
        EXPECT_TRUE(one.close(make_durable_disk_file(one, "a", std::string(1024, 'a'))).has_value());
        EXPECT_TRUE(one.remove("a").has_value());
        EXPECT_TRUE(one.sync(make_disk_file(one, "b", std::string(1024, 'b'))).has_value());
        one.power_loss();
        if (one.list("") != disk_names_list{"a", "b"}) continue;
        ++found;
        EXPECT_EQ(one.books().used_bytes, 2048u);
        EXPECT_EQ(content_at(one, "a"), std::string(1024, 'a'));
        auto const file = one.open("b").value();
        EXPECT_EQ(error_of(one.append(file, bytes_of("more"))), std::errc::no_space_on_device);
        EXPECT_EQ(one.write_at(file, 0, bytes_of("B")), 1u);
    }
    EXPECT_GT(found, 0);
}

} // namespace
