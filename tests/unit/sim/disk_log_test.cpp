// A small log-structured store on the simulated disk: what it has acknowledged is there after every power
// loss. And four ways to get it wrong, each of which the same test finds.
#include <pitsaw/base/random.hpp>
#include <pitsaw/sim/disk.hpp>

#include "disk_files.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ps = pitsaw;
using ps::sim::disk;
using ps::sim::disk_file;
using ps::sim::disk_open_options;
using ps::sim::disk_options;

namespace {

/// What a log does to be right; a canary leaves one thing out.
struct log_rules {
    bool syncs = true; // before a record is acknowledged
    bool syncs_its_name = true;
    bool has_checksums = true;
    bool writes_again = true; // after a failed sync, rather than to sync again and believe that
};

/// Records behind each other: length, checksum, content. `Storage` is the seam: the simulated disk here,
/// files of the system in a program.
template <class Storage> class record_log {
  public:
    record_log(Storage& on, log_rules rules) : on_(on), rules_(rules) {
        disk_open_options how;
        how.create = true;
        file_ = on_.open("log", how).value();
        while (rules_.syncs_its_name && !on_.sync_directory("").has_value()) {
        }
        recover();
    }

    [[nodiscard]] auto records() const -> std::vector<std::string> const& { return records_; }

    /// True: it is durable. False: it may be.
    [[nodiscard]] auto append(std::string_view content) -> bool {
        auto const bytes = encoded(content);
        if (!write_whole(bytes)) return false;
        if (rules_.syncs && !sync()) return false;
        end_ += bytes.size();
        records_.emplace_back(content);
        return true;
    }
    /// The power goes before the sync.
    void append_half(std::string_view content) { (void)write_whole(encoded(content)); }

  private:
    struct head {
        std::uint32_t bytes;
        std::uint32_t checksum;
    };

    /// FNV-1a, begun with the place, so that neither zeros nor an older record elsewhere pass for one.
    [[nodiscard]] auto checksum_of(std::uint64_t at, std::string_view content) const -> std::uint32_t {
        if (!rules_.has_checksums) return 1;
        auto sum = 2'166'136'261u ^ static_cast<std::uint32_t>(at);
        for (char const letter : content) sum = (sum ^ static_cast<unsigned char>(letter)) * 16'777'619u;
        return sum;
    }

    [[nodiscard]] auto encoded(std::string_view content) const -> std::string {
        head const first{static_cast<std::uint32_t>(content.size()), checksum_of(end_, content)};
        std::string bytes(sizeof first, '\0');
        std::memcpy(bytes.data(), &first, sizeof first);
        return bytes.append(content);
    }

    [[nodiscard]] auto write_whole(std::string_view bytes) -> bool {
        for (std::size_t wrote = 0; wrote < bytes.size();) {
            auto const more =
                on_.write_at(file_, end_ + wrote, std::as_bytes(std::span(bytes.substr(wrote))));
            if (!more.has_value()) return false;
            wrote += *more;
        }
        return true;
    }

    [[nodiscard]] auto sync() -> bool {
        if (on_.sync_data(file_).has_value()) return true;
        if (rules_.writes_again) return false; // the next record is written over this one
        while (!on_.sync_data(file_).has_value()) {
        }
        return true;
    }

    void recover() {
        std::string all(on_.size(file_).value(), '\0');
        for (std::size_t had = 0; had < all.size();)
            had += on_.read_at(file_, had, std::as_writable_bytes(std::span(all).subspan(had))).value();
        head first{};
        while (end_ + sizeof first <= all.size()) {
            std::memcpy(&first, all.data() + end_, sizeof first);
            if (first.bytes > all.size() - end_ - sizeof first) break;
            auto const content = std::string_view(all).substr(end_ + sizeof first, first.bytes);
            if (first.checksum != checksum_of(end_, content)) break;
            records_.emplace_back(content);
            end_ += sizeof first + first.bytes;
        }
    }

    Storage& on_;
    log_rules rules_;
    disk_file file_;
    std::uint64_t end_ = 0; // of the last whole record
    std::vector<std::string> records_;
};

/// What is wrong with what was found: nothing, if it is what was acknowledged, and perhaps one of the records
/// in doubt, which all would stand behind that.
[[nodiscard]] std::string compare(std::vector<std::string> found,
                                  std::vector<std::string> const& acknowledged,
                                  std::vector<std::string> const& in_doubt) {
    if (found.size() < acknowledged.size()) return "a record that was acknowledged is gone";
    if (found.size() == acknowledged.size() + 1 && std::ranges::count(in_doubt, found.back()) > 0)
        found.pop_back();
    return found == acknowledged ? "" : "a record that nobody wrote";
}

/// Five lives of a store, each ended by a power loss.
[[nodiscard]] std::string fault_of(std::uint64_t seed, log_rules rules, double sync_error_percent = 10) {
    disk_options options;
    options.seed = seed;
    options.faults.sync_error_percent = sync_error_percent;
    options.faults.write_error_percent = 2;
    disk storage(options);
    ps::random_source random(seed);
    std::vector<std::string> acknowledged, in_doubt;
    int number = 0;
    for (int life = 0; life < 5; ++life) {
        record_log log(storage, rules);
        auto const wrong = compare(log.records(), acknowledged, in_doubt);
        if (!wrong.empty()) return wrong;
        acknowledged = log.records();
        in_doubt.clear();
        for (auto left = random.below(6); left > 0; --left) {
            std::string const content(1 + random.below(1500), static_cast<char>('a' + number++ % 26));
            if (left == 1 && random.chance(0.5)) {
                log.append_half(content);
                in_doubt.push_back(content);
            } else if (log.append(content)) {
                acknowledged.push_back(content);
                in_doubt.clear(); // it was written over them
            } else {
                in_doubt.push_back(content);
            }
        }
        storage.power_loss();
    }
    return "";
}

/// Seeds of the first 300 in which it goes wrong.
[[nodiscard]] int faults_found(log_rules rules, double sync_error_percent = 10) {
    int found = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed)
        if (!fault_of(seed, rules, sync_error_percent).empty()) ++found;
    return found;
}

TEST(disk_log, what_it_has_acknowledged_survives_every_power_loss) {
    auto const first = ps::testing::first_disk_seed();
    for (auto seed = first; seed != first + ps::testing::disk_seeds(); ++seed)
        ASSERT_EQ(fault_of(seed, {}), "") << "seed " << seed;
}

TEST(disk_log, without_a_sync_it_is_caught) {
    log_rules rules;
    rules.syncs = false;
    EXPECT_GT(faults_found(rules), 100);
}

TEST(disk_log, without_a_sync_of_its_name_it_is_caught) {
    log_rules rules;
    rules.syncs_its_name = false;
    EXPECT_GT(faults_found(rules), 10);
}

TEST(disk_log, without_checksums_it_is_caught) {
    log_rules rules;
    rules.has_checksums = false;
    EXPECT_GT(faults_found(rules), 10);
}

TEST(disk_log, believing_the_second_sync_after_one_that_failed_is_caught) {
    log_rules rules;
    rules.writes_again = false;
    EXPECT_GT(faults_found(rules), 10);
    EXPECT_EQ(faults_found(rules, 0), 0) << "it is right as long as no sync fails";
}

} // namespace
