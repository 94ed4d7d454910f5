#include "loop/flight_recorder.hpp"

#include "driver/sim/driver.hpp"
#include "loop/flight_image.hpp"
#include "loop/flight_text.hpp"
#include "loop/worker.hpp"

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <expected>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace pitsaw {
namespace {

using namespace std::chrono_literals;

/// A connection with itself that carries a word, a sleep, and a child that fails.
task<io_result<void>> a_short_life() {
    auto listener = co_await or_return(tcp_listener::bind(endpoint::loopback(0)));
    auto const at = co_await or_return(listener.local_endpoint());
    auto near = co_await or_return(tcp_stream::connect(at));
    auto far = co_await or_return(listener.accept());
    co_await or_return(near.send_all(std::as_bytes(std::span("word", 4))));
    auto const got = co_await or_return(far.receive());
    EXPECT_EQ(got.size(), 4U);
    co_await sleep(1s);
    auto const late = co_await with_timeout(1s, sleep(1h));
    EXPECT_EQ(late.error(), std::errc::timed_out);
    co_return {};
}

task<void> stop_it(runtime& rt) {
    rt.request_stop();
    co_await sleep(1s);
}

auto records_of(runtime const& rt) -> std::vector<flight_record> {
    std::vector<flight_record> found;
    auto const& ring = rt.loop().recorder->ring();
    flight_record each;
    for (std::uint64_t i = 0; i < ring.pushed(); ++i)
        if (ring.read(i, each)) found.push_back(each);
    return found;
}

auto count_of(std::vector<flight_record> const& in, op_code code, std::int32_t result) -> std::ptrdiff_t {
    return std::ranges::count_if(in, [=](flight_record const& each) {
        return each.kind == flight_kind::event && each.code == static_cast<std::uint8_t>(code) &&
               each.result == result;
    });
}

auto with_records(std::uint32_t records, std::size_t input_bytes = 0) -> runtime_options {
    runtime_options options;
    options.recorder.records = records;
    options.recorder.input_bytes = input_bytes;
    return options;
}

auto file_of_this_test() -> std::string {
    auto const* const test = ::testing::UnitTest::GetInstance()->current_test_info();
    return ::testing::TempDir() + "pitsaw_" + test->name() + ".record";
}

struct recorder_file { // removed in the end
    std::string path = file_of_this_test();
    ~recorder_file() { std::remove(path.c_str()); }
};

TEST(flight_recorder, keeps_events_endings_timers_and_stops) {
    runtime rt;
    EXPECT_TRUE(sync_wait(rt, a_short_life()).has_value());
    EXPECT_TRUE(sync_wait(rt, stop_it(rt)).is_stopped());
    auto const found = records_of(rt);
    EXPECT_EQ(count_of(found, op_code::send, 4), 1);
    EXPECT_EQ(count_of(found, op_code::receive, 4), 1);
    EXPECT_EQ(count_of(found, op_code::connect, 0), 1);
    auto const of_kind = [&](flight_kind kind, std::int32_t result) {
        return std::ranges::count_if(
            found, [=](auto const& each) { return each.kind == kind && each.result == result; });
    };
    EXPECT_EQ(of_kind(flight_kind::timers, 1), 2);
    EXPECT_GE(of_kind(flight_kind::ending, static_cast<std::int32_t>(ending::value)), 1);
    EXPECT_GE(of_kind(flight_kind::ending, static_cast<std::int32_t>(ending::stopped)), 1);
    EXPECT_EQ(of_kind(flight_kind::stop, static_cast<std::int32_t>(stop_reason::shutdown)), 1);
    EXPECT_TRUE(std::ranges::is_sorted(found, {}, &flight_record::time));
    EXPECT_GE(found.back().time - found.front().time, std::chrono::nanoseconds(2s).count());
}

TEST(flight_recorder, is_not_there_where_it_is_switched_off) {
    runtime rt(with_records(0));
    EXPECT_EQ(rt.loop().recorder, nullptr);
    EXPECT_TRUE(sync_wait(rt, a_short_life()).has_value());
    EXPECT_EQ(rt.save_record("/dev/null"), std::errc::operation_not_supported);
    runtime without_inputs(with_records(1 << 20));
    EXPECT_EQ(without_inputs.loop().recorder->header().records, 128U); // of a world of virtual time
    EXPECT_EQ(std::string_view(without_inputs.loop().io->features().name), "sim");
    EXPECT_EQ(without_inputs.loop().recorder->header().inputs_max, 0U);
}

TEST(flight_recorder, touches_memory_only_as_it_fills) {
    auto const recorder = make_flight_recorder(with_records(1 << 16, 1 << 20).recorder, sim_driver());
    auto const resident = [&] {
        std::vector<unsigned char> pages((flight_header::bytes + (std::size_t{3} << 20)) / 4096);
        EXPECT_EQ(::mincore(&recorder->header(), pages.size() * 4096, pages.data()), 0);
        return std::ranges::count_if(pages, [](unsigned char each) { return (each & 1) != 0; });
    };
    auto const few = resident();
    EXPECT_LE(few, 16); // the header; more where the system's pages are larger
    recorder->note(flight_kind::timers, 1);
    EXPECT_LE(resident(), few + 16);
    for (int i = 0; i < 1 << 16; ++i) recorder->note(flight_kind::timers, 1);
    EXPECT_GE(resident(), 512);
}

TEST(flight_recorder, a_saved_record_is_what_was_in_memory) {
    recorder_file const file;
    runtime rt(with_records(5)); // rounded up
    EXPECT_TRUE(sync_wait(rt, a_short_life()).has_value());
    EXPECT_EQ(rt.save_record(file.path.c_str()), std::error_code());
    auto const image = flight_image::read(file.path);
    ASSERT_TRUE(image.has_value()) << image.error();
    EXPECT_EQ(image->header().records, 8U);
    EXPECT_GT(image->pushed(), 8U);
    auto const saved = image->records();
    EXPECT_EQ(saved.size(), 8U);
    auto const in_memory = records_of(rt); // without the one that a writer might be at
    EXPECT_TRUE(std::ranges::equal(std::span(saved).subspan(1), in_memory));
    EXPECT_NE(rt.save_record("/nowhere/at/all"), std::error_code());
}

/// A folder of this test's own; removed in the end.
struct recorder_folder {
    std::filesystem::path path = std::filesystem::path(file_of_this_test() + "s");
    recorder_folder() {
        std::filesystem::remove_all(path); // of a run that was killed
        std::filesystem::create_directory(path);
    }
    recorder_folder(recorder_folder&&) = delete;
    ~recorder_folder() { std::filesystem::remove_all(path); }
    [[nodiscard]] auto files() const -> std::ptrdiff_t {
        return std::distance(std::filesystem::directory_iterator(path), {});
    }
};

auto text_of(std::istream& from) -> std::string { return {std::istreambuf_iterator<char>(from), {}}; }

TEST(flight_recorder, a_saved_record_is_its_owners_alone_whatever_was_there) {
    recorder_folder const folder;
    auto const path = folder.path / "a.record";
    std::ofstream(path) << "what was there";
    std::filesystem::permissions(path, std::filesystem::perms(0644));
    std::ifstream opened_before(path);
    runtime rt;
    EXPECT_TRUE(sync_wait(rt, a_short_life()).has_value());
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(rt.save_record(path.c_str()), std::error_code());
        EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::perms(0600));
        EXPECT_TRUE(flight_image::read(path).has_value());
    }
    EXPECT_EQ(text_of(opened_before), "what was there"); // who could read that file reads nothing of ours
    EXPECT_EQ(folder.files(), 1);
}

TEST(flight_recorder, is_saved_through_no_link_and_in_no_device) {
    recorder_folder const folder;
    auto const elsewhere = folder.path / "elsewhere";
    auto const link = folder.path / "link";
    std::ofstream(elsewhere) << "untouched";
    std::filesystem::create_symlink(elsewhere, link);
    runtime rt;
    EXPECT_EQ(rt.save_record(link.c_str()), std::errc::too_many_symbolic_link_levels);
    EXPECT_EQ(rt.save_record(folder.path.c_str()), std::errc::is_a_directory);
    auto const pipe = folder.path / "pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_EQ(rt.save_record(pipe.c_str()), std::errc::invalid_argument);
    EXPECT_TRUE(std::filesystem::is_fifo(pipe));
    std::ifstream kept(elsewhere);
    EXPECT_EQ(text_of(kept), "untouched");
    EXPECT_EQ(folder.files(), 3); // and nothing half done
}

TEST(flight_recorder, is_saved_beside_what_an_earlier_one_left_half_done) {
    recorder_folder const folder;
    auto const path = folder.path / "a.record";
    auto const left = folder.path / (".pitsaw-" + std::to_string(::getpid()) + "-0");
    std::ofstream(left) << "half";
    runtime rt;
    EXPECT_EQ(rt.save_record(path.c_str()), std::error_code());
    EXPECT_TRUE(flight_image::read(path).has_value());
    std::ifstream kept(left);
    EXPECT_EQ(text_of(kept), "half");
    EXPECT_EQ(folder.files(), 2);
}

TEST(flight_recorder, a_file_that_is_cut_off_or_changed_is_refused_or_read) {
    recorder_file const file;
    runtime rt(with_records(4, 4096));
    EXPECT_TRUE(sync_wait(rt, a_short_life()).has_value());
    auto const image = rt.loop().recorder->image();
    auto const words_of = [&](std::size_t bytes) {
        std::vector<std::uint64_t> words((bytes + 7) / 8);
        std::memcpy(words.data(), image.data(), bytes);
        return words;
    };
    EXPECT_TRUE(flight_image::make(words_of(image.size()), image.size()).has_value());
    for (auto bytes = image.size() - 1; bytes > 0; bytes = bytes * 3 / 4)
        EXPECT_FALSE(flight_image::make(words_of(bytes), bytes).has_value()) << bytes;
    for (std::size_t word = 0; word < sizeof(flight_header) / 8; ++word) {
        auto words = words_of(image.size());
        words[word] = ~words[word];
        auto const changed = flight_image::make(std::move(words), image.size());
        EXPECT_LE(changed ? changed->records().size() : 0, 4U); // and touches no other memory
    }
    std::ofstream(file.path) << "nothing of the kind";
    EXPECT_FALSE(flight_image::read(file.path).has_value());
    EXPECT_FALSE(flight_image::read(file.path + ".not").has_value());
}

/// Memory of a recorder with three records in four slots, which `meanwhile` changes after each look at it.
template <class Change>
auto copy_of_what_changes(Change meanwhile) -> std::expected<flight_image, std::string> {
    runtime rt(with_records(4, 4096));
    auto& recorder = *rt.loop().recorder;
    for (int i = 1; i <= 3; ++i) recorder.note(flight_kind::timers, i);
    recorder.header().inputs.end = sizeof(input_entry);
    auto const memory = std::span(reinterpret_cast<std::byte*>(&recorder.header()), 2 * flight_header::bytes);
    int looks = 0;
    auto const from = [&](std::uint64_t at, std::span<std::byte> to) {
        if (at > memory.size() || to.size() > memory.size() - at) return false;
        std::ranges::copy(memory.subspan(at, to.size()), to.begin());
        meanwhile(++looks, recorder);
        return true;
    };
    return flight_image::copy(from, memory.size());
}

auto result_of(flight_record const& of) -> std::int32_t { return of.result; }

TEST(flight_image, of_what_is_written_meanwhile_has_only_what_is_whole) {
    auto const calm = copy_of_what_changes([](int, flight_recorder&) {});
    ASSERT_TRUE(calm.has_value()) << calm.error();
    EXPECT_EQ(calm->records().size(), 3U);
    auto const busy = copy_of_what_changes([](int looks, flight_recorder& to) {
        if (looks == 3) // the copy is made, and two of its records may have been half written
            for (int i = 4; i <= 5; ++i) to.note(flight_kind::timers, i);
    });
    ASSERT_TRUE(busy.has_value()) << busy.error();
    auto const left = busy->records();
    ASSERT_EQ(left.size(), 1U);
    EXPECT_EQ(result_of(left.front()), 3);
}

TEST(flight_image, uses_no_size_that_comes_after_it_was_checked) {
    auto const grown = copy_of_what_changes([](int looks, flight_recorder& to) {
        if (looks == 2) to.header().inputs_at = 8, to.header().records = 1U << 31;
        if (looks == 3) to.header().inputs_at = flight_header::bytes, to.header().records = 4;
    });
    ASSERT_TRUE(grown.has_value()) << grown.error(); // what was checked is what counts
    EXPECT_EQ(grown->header().records, 4U);
    EXPECT_EQ(grown->records().size(), 3U);
}

TEST(flight_image, of_a_recorder_whose_place_another_takes_is_refused) {
    void (*const changes[])(flight_header&) = {
        [](flight_header& of) { of.head = 1; },        [](flight_header& of) { of.records = 2; },
        [](flight_header& of) { of.inputs_at = 8; },   [](flight_header& of) { of.inputs_max = 8; },
        [](flight_header& of) { of.driver[0] = 'x'; }, [](flight_header& of) { of.magic[0] = 'x'; },
        [](flight_header& of) { of.inputs.end = 0; },
    };
    for (auto* const each : changes)
        for (auto const when : {1, 3}) {
            auto const made = copy_of_what_changes([&](int looks, flight_recorder& to) {
                if (looks == when) each(to.header());
            });
            ASSERT_FALSE(made.has_value());
            EXPECT_EQ(made.error(), "another came to its place while it was read");
        }
}

TEST(flight_image, of_memory_that_goes_says_so) {
    for (int last = 0; last < 4; ++last) {
        std::vector<std::byte> memory(3 * flight_header::bytes);
        auto* const header = new (memory.data()) flight_header;
        header->records = 4;
        header->inputs_at = 2 * flight_header::bytes;
        int looks = 0;
        auto const made = flight_image::copy(
            [&](std::uint64_t at, std::span<std::byte> to) {
                std::ranges::copy(std::span(memory).subspan(at, to.size()), to.begin());
                return looks++ < last;
            },
            memory.size());
        ASSERT_FALSE(made.has_value());
        EXPECT_EQ(made.error(), "it went while it was read");
    }
}

TEST(flight_recorder, of_few_records_is_one_page) {
    recorder_file const file;
    runtime rt(with_records(64));
    EXPECT_TRUE(sync_wait(rt, a_short_life()).has_value());
    EXPECT_EQ(rt.save_record(file.path.c_str()), std::error_code());
    EXPECT_EQ(std::filesystem::file_size(file.path), flight_header::bytes);
    auto const image = flight_image::read(file.path);
    ASSERT_TRUE(image.has_value()) << image.error();
    EXPECT_EQ(image->records().size(), image->pushed());
    EXPECT_GT(image->pushed(), 0U);
}

TEST(flight_recorder, never_grows_beyond_what_is_read) {
    auto const recorder =
        make_flight_recorder(with_records(~std::uint32_t{0}, ~std::size_t{0}).recorder, sim_driver());
    ASSERT_NE(recorder, nullptr);
    auto const& header = recorder->header();
    EXPECT_EQ(header.records, flight_header::records_max);
    EXPECT_EQ(header.inputs_at + header.inputs_max, flight_header::bytes_max);
    EXPECT_EQ(recorder->inputs().size(), header.inputs_max);
}

TEST(flight_recorder, keeps_the_first_inputs_when_there_is_no_room_for_more) {
    runtime rt(with_records(16, 4096));
    auto const& room = rt.loop().recorder->header().inputs;
    EXPECT_TRUE(sync_wait(rt, a_short_life()).has_value());
    EXPECT_EQ(room.is_full, 0U);
    auto const once = room.end.load();
    EXPECT_GT(once, 0U);
    for (int i = 0; i < 10; ++i) EXPECT_TRUE(sync_wait(rt, a_short_life()).has_value());
    EXPECT_EQ(room.is_full, 1U);
    auto const full = room.end.load();
    EXPECT_LE(full, 4096U);
    EXPECT_TRUE(sync_wait(rt, a_short_life()).has_value());
    EXPECT_EQ(room.end, full);
}

TEST(flight_recorder, a_record_is_a_line_that_fits) {
    flight_record of{.time = 1'500'000'000,
                     .code = static_cast<std::uint8_t>(op_code::receive),
                     .flags = flight_record::at_once,
                     .result = -104,
                     .index = 3,
                     .generation = 0xab};
    EXPECT_STREQ(to_text(of, nullptr).data(),
                 "         1.500000000  receive   descriptor 3:000000ab  -104, at once");
    of = {.kind = flight_kind::ending, .result = 2};
    EXPECT_STREQ(to_text(of, "a.cpp:7").data(),
                 "         0.000000000  ended     stopped, last await at a.cpp:7");
    EXPECT_EQ(std::strlen(to_text(of, std::string(999, 'x').c_str()).data()), 255U);
}

task<void> receive_and_fail() {
    co_await sleep(2s);
    check(false, "as the test wants it");
}

using flight_recorder_death = ::testing::Test;

TEST(flight_recorder_death, a_failed_check_prints_the_last_records) {
    EXPECT_DEATH((void)sync_wait(receive_and_fail()),
                 "as the test wants it[^$]*async stack[^$]*the last 1 of 1 records of this worker:\n"
                 "[ ]*2\\.000000000  timers    1 fired");
}

} // namespace
} // namespace pitsaw
