// The simulated disk against models that know only what is promised, over thousands of seeds.
#include <pitsaw/base/random.hpp>
#include <pitsaw/sim/disk.hpp>

#include "disk_files.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace ps = pitsaw;
using ps::random_source;
using ps::sim::disk;
using ps::sim::disk_file;
using ps::sim::disk_options;
using ps::testing::content_of;
using ps::testing::make_disk_file;

namespace {

constexpr std::size_t sector = 512;
/// Calls `what` with each seed; where they are many, `count` is then to be more than a third of them.
template <class F> void for_each_disk_seed(std::uint64_t const& count, F const& what) {
    auto const first = ps::testing::first_disk_seed(), seeds = ps::testing::disk_seeds();
    for (auto seed = first; seed != first + seeds && !::testing::Test::HasFatalFailure(); ++seed) what(seed);
    if (seeds < 100) return;
    EXPECT_GT(count, seeds / 3);
}

[[nodiscard]] std::string random_text(random_source& random, std::size_t bytes) {
    std::string text(bytes, '\0');
    for (auto& letter : text) letter = static_cast<char>('a' + random.below(26));
    return text;
}

// ---- Content

/// What a file may hold after a power loss: for each sector, every content it had since it was last durable.
class content_model {
  public:
    [[nodiscard]] auto cached() const -> std::string const& { return cached_; }

    void write(std::size_t offset, std::string_view bytes) {
        if (bytes.empty()) return;
        if (offset + bytes.size() > cached_.size()) cached_.resize(offset + bytes.size());
        cached_.replace(offset, bytes.size(), bytes);
        largest_ = std::max(largest_, cached_.size());
        for (auto which = offset / sector; which * sector < offset + bytes.size(); ++which) {
            auto& allowed = versions_[which];
            if (allowed.empty()) allowed.insert(std::string(sector, '\0')); // a gap, or behind the end
            allowed.insert(padded(which));
            dirty_.insert(which);
        }
    }

    void synced() {
        for (auto const which : dirty_) versions_[which] = {padded(which)};
        dirty_.clear();
        smallest_ = largest_ = cached_.size();
    }
    /// What is dirty is clean now, with whichever content.
    void sync_failed() { dirty_.clear(); }

    /// What is wrong with this content, or nothing; from here on it is the content.
    [[nodiscard]] auto recover(std::string const& found) -> std::string {
        std::string wrong;
        if (found.size() < smallest_ || found.size() > largest_)
            wrong = "size " + std::to_string(found.size()) + " is not between " + std::to_string(smallest_) +
                    " and " + std::to_string(largest_);
        for (std::size_t which = 0; which * sector < found.size(); ++which) {
            auto const part = found.substr(which * sector, sector);
            auto const& allowed = versions_[which];
            bool const is_known =
                std::ranges::any_of(allowed, [&](auto const& one) { return one.starts_with(part); });
            bool const is_hole = allowed.empty() || which * sector >= smallest_;
            bool const is_zero = std::ranges::all_of(part, [](char letter) { return letter == '\0'; });
            if (!is_known && !(is_hole && is_zero)) wrong = "sector " + std::to_string(which);
        }
        cached_ = found;
        versions_.clear();
        dirty_.clear();
        smallest_ = largest_ = found.size();
        for (std::size_t which = 0; which * sector < found.size(); ++which)
            versions_[which] = {padded(which)};
        return wrong;
    }

  private:
    [[nodiscard]] auto padded(std::size_t which) const -> std::string {
        auto part = cached_.substr(which * sector, sector);
        part.resize(sector);
        return part;
    }

    std::string cached_;
    std::map<std::size_t, std::set<std::string>> versions_;
    std::set<std::size_t> dirty_;
    std::size_t smallest_ = 0, largest_ = 0; // sizes since the last sync
};

struct content_counts {
    std::uint64_t failed_syncs = 0;
    std::uint64_t losses = 0; // power losses that changed what the file holds
    std::string wrong{};      // the first fault
};

void one_call(disk& on, disk_file& file, content_model& model, random_source& random,
              content_counts& counts) {
    auto const call = random.below(10);
    if (call < 5) {
        auto const offset = random.chance(0.5) ? model.cached().size() : random.below(3000);
        auto const text = random_text(random, 1 + random.below(1500));
        auto const wrote = on.write_at(file, offset, std::as_bytes(std::span(text)));
        model.write(offset, std::string_view(text).substr(0, wrote.value_or(0)));
    } else if (call < 8) {
        if (on.sync(file).has_value()) {
            model.synced();
        } else {
            model.sync_failed();
            ++counts.failed_syncs;
        }
    } else if (call == 8) {
        on.write_back();
    } else {
        on.kill();
        file = make_disk_file(on, "file");
    }
    if (content_of(on, file) != model.cached()) counts.wrong = "what is read is not what was written";
}

[[nodiscard]] content_counts live_through_power_losses(std::uint64_t seed, double sync_error_percent) {
    disk_options options;
    options.seed = seed;
    options.faults.sync_error_percent = sync_error_percent;
    options.faults.write_error_percent = 5;
    disk one(options);
    random_source random(seed);
    content_model model;
    content_counts counts;
    (void)make_disk_file(one, "file");
    while (!one.sync_directory("").has_value()) ++counts.failed_syncs;
    for (int round = 0; round < 5; ++round) {
        auto file = make_disk_file(one, "file");
        for (auto calls = random.below(12); calls > 0 && counts.wrong.empty(); --calls)
            one_call(one, file, model, random, counts);
        one.power_loss();
        auto const found = content_of(one, make_disk_file(one, "file"));
        if (found != model.cached()) ++counts.losses;
        auto const wrong = model.recover(found);
        if (counts.wrong.empty()) counts.wrong = wrong;
        one.kill();
    }
    return counts;
}

TEST(disk_property, what_was_synced_is_there_and_each_sector_is_whole) {
    std::uint64_t losses = 0;
    for_each_disk_seed(losses, [&](std::uint64_t seed) {
        auto const counts = live_through_power_losses(seed, 0);
        ASSERT_EQ(counts.wrong, "") << "seed " << seed;
        losses += counts.losses;
    });
}

TEST(disk_property, what_a_failed_sync_lost_is_the_only_thing_that_a_later_one_does_not_write) {
    std::uint64_t failed_syncs = 0;
    for_each_disk_seed(failed_syncs, [&](std::uint64_t seed) {
        auto const counts = live_through_power_losses(seed, 30);
        ASSERT_EQ(counts.wrong, "") << "seed " << seed;
        failed_syncs += counts.failed_syncs;
    });
}

// The checks above can fail: a model that takes a failed sync for one that worked finds itself wrong.
TEST(disk_property, the_model_finds_what_a_failed_sync_loses) {
    int found = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        disk_options options;
        options.seed = seed;
        disk one(options);
        content_model model;
        auto const file = make_disk_file(one, "file");
        ASSERT_TRUE(one.sync_directory("").has_value());
        std::string const text(700, 'x');
        auto const wrote = one.append(file, std::as_bytes(std::span(text))).value();
        model.write(0, std::string_view(text).substr(0, wrote));
        one.faults().sync_error_percent = 100;
        ASSERT_FALSE(one.sync(file).has_value());
        model.synced();
        one.power_loss();
        if (model.recover(content_of(one, make_disk_file(one, "file"))) != "") ++found;
    }
    EXPECT_GT(found, 50);
}

// ---- Names

constexpr std::array<std::string_view, 6> places{"a", "b", "c", "d/a", "d/b", "d/c"};

[[nodiscard]] int directory_of(std::size_t place) { return place < 3 ? 0 : 1; }

/// What the places may name after a power loss. A file is known by its content, a number; 0: none.
class name_model {
  public:
    [[nodiscard]] int at(std::size_t place) const { return history_[place].back().value; }

    void set(std::size_t place, int value, bool removes) {
        if (removes && at(place) != 0) removed_.insert(at(place));
        history_[place].push_back({value, next_operation({place})});
        if (value != 0) births_[value] = operations_.size() - 1;
    }
    void rename(std::size_t from, std::size_t to) {
        auto const operation = next_operation({from, to});
        auto const value = at(from);
        if (at(to) != 0) removed_.insert(at(to));
        history_[from].push_back({0, operation});
        history_[to].push_back({value, operation});
    }
    void synced(int directory) {
        for (auto& missing : operations_) missing.erase(directory);
        for (auto& history : history_) { // what is older than something durable cannot come back
            auto last = history.size();
            while (last-- > 0)
                if (operations_[history[last].operation].empty()) break;
            history.erase(history.begin(), history.begin() + static_cast<std::ptrdiff_t>(last));
        }
    }

    [[nodiscard]] auto recover(std::array<int, 6> const& found) -> std::string {
        std::string wrong;
        std::map<int, int> times;
        for (std::size_t place = 0; place < places.size(); ++place) {
            ++times[found[place]];
            if (std::ranges::none_of(history_[place],
                                     [&](auto const& one) { return one.value == found[place]; }))
                wrong = "something else is at " + std::string(places[place]);
        }
        for (auto const& [value, birth] : births_) {
            if (times[value] > 1) wrong = "a file has two names";
            bool const must_be_there = operations_[birth].empty() && !removed_.contains(value);
            if (must_be_there && times[value] == 0) wrong = "a file that was never removed is gone";
        }
        operations_.assign(1, {});
        births_.clear();
        removed_.clear();
        for (std::size_t place = 0; place < places.size(); ++place) {
            history_[place].assign(1, {found[place], 0});
            if (found[place] != 0) births_[found[place]] = 0;
        }
        return wrong;
    }

  private:
    struct version {
        int value;
        std::size_t operation;
    };

    [[nodiscard]] std::size_t next_operation(std::vector<std::size_t> const& touched) {
        std::set<int> missing;
        for (auto const place : touched) missing.insert(directory_of(place));
        operations_.push_back(std::move(missing));
        return operations_.size() - 1;
    }

    std::vector<std::set<int>> operations_{{}}; // the directories that each still waits for
    std::array<std::vector<version>, 6> history_ = filled();
    std::map<int, std::size_t> births_; // of each file the operation that made it
    std::set<int> removed_;             // files whose name was taken away by something that may be durable

    static auto filled() -> std::array<std::vector<version>, 6> {
        std::array<std::vector<version>, 6> all;
        for (auto& history : all) history.push_back({0, 0});
        return all;
    }
};

/// A file that holds its number, durably.
void make_file(disk& on, std::string_view path, int number) {
    auto const file = make_disk_file(on, path);
    auto const text = std::to_string(number);
    for (std::size_t done = 0; done < text.size();)
        done += on.append(file, std::as_bytes(std::span(text).subspan(done))).value();
    EXPECT_TRUE(on.sync(file).has_value());
    EXPECT_TRUE(on.close(file).has_value());
}

[[nodiscard]] std::array<int, 6> read_places(disk& on) {
    std::array<int, 6> found{};
    for (std::size_t place = 0; place < places.size(); ++place) {
        auto const file = on.open(places[place]);
        if (!file.has_value()) continue;
        auto const text = content_of(on, *file);
        found[place] = text.empty() ? -1 : std::stoi(text);
    }
    on.kill();
    return found;
}

void one_change_of_names(disk& on, name_model& model, random_source& random, int& last_number) {
    auto const from = random.below(places.size());
    auto const to = random.below(places.size());
    auto const call = random.below(10);
    if (call < 4) {
        if (model.at(from) != 0) return;
        make_file(on, places[from], ++last_number);
        model.set(from, last_number, false);
    } else if (call < 7) {
        if (model.at(from) == 0 || from == to) return;
        EXPECT_TRUE(on.rename(places[from], places[to]).has_value());
        model.rename(from, to);
    } else if (call < 8) {
        if (model.at(from) == 0) return;
        EXPECT_TRUE(on.remove(places[from]).has_value());
        model.set(from, 0, true);
    } else {
        auto const directory = static_cast<int>(random.below(2));
        EXPECT_TRUE(on.sync_directory(directory == 0 ? "" : "d").has_value());
        model.synced(directory);
    }
}

TEST(disk_property, a_name_is_old_or_new_and_no_file_is_lost_between_two) {
    std::uint64_t changed = 0;
    for_each_disk_seed(changed, [&](std::uint64_t seed) {
        disk_options options;
        options.seed = seed;
        disk one(options);
        random_source random(seed);
        name_model model;
        int last_number = 0;
        ASSERT_TRUE(one.make_directory("d").has_value());
        ASSERT_TRUE(one.sync_directory("").has_value());
        for (int round = 0; round < 4; ++round) {
            for (auto calls = random.below(15); calls > 0; --calls)
                one_change_of_names(one, model, random, last_number);
            auto const before = read_places(one);
            one.power_loss();
            auto const found = read_places(one);
            if (found != before) ++changed;
            ASSERT_EQ(model.recover(found), "") << "seed " << seed << " round " << round;
        }
    });
}

// ---- A full disk

TEST(disk_property, a_full_disk_changes_nothing_and_its_books_balance) {
    std::uint64_t refused = 0;
    for_each_disk_seed(refused, [&](std::uint64_t seed) {
        disk_options options;
        options.seed = seed;
        options.capacity_bytes = 4096;
        disk one(options);
        random_source random(seed);
        std::map<std::string, std::string> contents;
        for (int call = 0; call < 30; ++call) {
            std::string const path(1, static_cast<char>('a' + random.below(3)));
            auto const what = random.below(10);
            if (what == 0 && contents.contains(path)) {
                ASSERT_TRUE(one.remove(path).has_value());
                contents.erase(path);
            } else {
                auto const file = make_disk_file(one, path);
                auto& content = contents[path];
                if (what < 3) {
                    auto const bytes = random.below(3000);
                    if (one.truncate(file, bytes).has_value())
                        content.resize(bytes);
                    else
                        ++refused;
                } else {
                    auto const offset = random.below(content.size() + 1);
                    auto const text = random_text(random, 1 + random.below(2000));
                    auto const wrote = one.write_at(file, offset, std::as_bytes(std::span(text)));
                    if (!wrote.has_value()) ++refused;
                    auto const count = wrote.value_or(0);
                    content.resize(std::max(content.size(), offset + count));
                    content.replace(offset, count, text, 0, count);
                }
                ASSERT_TRUE(one.close(file).has_value());
            }
            std::uint64_t used = 0;
            for (auto const& [name, content] : contents) {
                ASSERT_EQ(content_of(one, make_disk_file(one, name)), content) << "seed " << seed;
                used += (content.size() + sector - 1) / sector * sector;
            }
            one.kill();
            ASSERT_EQ(one.books().used_bytes, used);
            ASSERT_EQ(one.books().files, contents.size());
            ASSERT_LE(used, options.capacity_bytes);
        }
    });
}

} // namespace
