#pragma once
#include <pitsaw/sim/disk.hpp>
#include <pitsaw/sim/world.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace pitsaw::testing {

/// Seeds that a property is tried with in each build: fewer where each costs twenty times as much.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr std::uint64_t disk_seeds_of_a_build = 300;
#elif defined(__has_feature)
inline constexpr std::uint64_t disk_seeds_of_a_build = __has_feature(address_sanitizer) ? 300 : 3000;
#else
inline constexpr std::uint64_t disk_seeds_of_a_build = 3000;
#endif

/// The seeds that a property is to be tried with, from the first on.
[[nodiscard]] inline std::uint64_t first_disk_seed() { return sim::seed_from_environment(0); }
[[nodiscard]] inline std::uint64_t disk_seeds() { return sim::seeds_from_environment(disk_seeds_of_a_build); }

/// What a directory lists.
using disk_names_list = std::vector<std::string>;

/// Nothing is short and nothing fails, until a test says so.
[[nodiscard]] inline sim::disk_options calm_disk(std::uint64_t seed = 0) {
    sim::disk_options options;
    options.seed = seed;
    options.faults.short_percent = 0;
    return options;
}

[[nodiscard]] inline sim::disk_open_options creating_disk_file() {
    sim::disk_open_options how;
    how.create = true;
    return how;
}

[[nodiscard]] inline sim::disk_file make_disk_file(sim::disk& on, std::string_view path,
                                                   std::string_view text = "") {
    auto const file = on.open(path, creating_disk_file());
    EXPECT_TRUE(file.has_value());
    if (!text.empty()) {
        EXPECT_EQ(on.append(*file, std::as_bytes(std::span(text))), text.size());
    }
    return *file;
}

/// A file that is durable with its name; the name's directory is the root.
[[nodiscard]] inline sim::disk_file make_durable_disk_file(sim::disk& on, std::string_view path,
                                                           std::string_view text) {
    auto const file = make_disk_file(on, path, text);
    EXPECT_TRUE(on.sync(file).has_value());
    EXPECT_TRUE(on.sync_directory("").has_value());
    return file;
}

/// Why it failed; none if it did not.
template <class Result> [[nodiscard]] std::error_code error_of(Result const& of) {
    return of.has_value() ? std::error_code() : of.error();
}

/// The whole content, or what went wrong.
[[nodiscard]] inline std::string content_of(sim::disk& on, sim::disk_file file) {
    std::string text(on.size(file).value(), '\0');
    for (std::size_t had = 0; had < text.size();) {
        auto const got = on.read_at(file, had, std::as_writable_bytes(std::span(text).subspan(had)));
        if (!got.has_value()) return got.error().message();
        had += *got;
    }
    return text;
}

[[nodiscard]] inline std::string content_at(sim::disk& on, std::string_view path) {
    auto const file = on.open(path);
    if (!file.has_value()) return file.error().message();
    auto text = content_of(on, *file);
    EXPECT_TRUE(on.close(*file).has_value());
    return text;
}

} // namespace pitsaw::testing
