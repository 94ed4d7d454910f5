#include "loop/flight_record.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <thread>

namespace pitsaw {
namespace {

constexpr std::uint32_t slots_of_the_ring = 8;

struct ring_of_eight {
    flight_ring::word head = 0;
    std::array<flight_ring::word, slots_of_the_ring * flight_ring::words_of_a_slot> words = {};
    flight_ring ring{head, words.data(), slots_of_the_ring};
};

/// Every word of it tells the number.
auto record_number(std::uint64_t number) -> flight_record {
    return {.time = static_cast<std::int64_t>(number),
            .kind = flight_kind::timers,
            .code = static_cast<std::uint8_t>(number),
            .result = static_cast<std::int32_t>(number),
            .index = static_cast<std::uint32_t>(number),
            .generation = static_cast<std::uint32_t>(number),
            .subject = number};
}

TEST(flight_ring, keeps_the_last_ones_and_says_so_of_others) {
    ring_of_eight of;
    flight_record got;
    EXPECT_FALSE(of.ring.read(0, got));
    for (std::uint64_t i = 0; i < 20; ++i) of.ring.push(record_number(i));
    EXPECT_EQ(of.ring.pushed(), 20U);
    for (std::uint64_t i = 0; i <= 12; ++i) EXPECT_FALSE(of.ring.read(i, got)) << i;
    for (std::uint64_t i = 13; i < 20; ++i) {
        EXPECT_TRUE(of.ring.read(i, got)) << i;
        EXPECT_EQ(got, record_number(i));
    }
    EXPECT_FALSE(of.ring.read(20, got));
}

TEST(flight_ring, a_slot_that_may_be_half_written_is_not_read) {
    ring_of_eight of;
    flight_record got;
    for (std::uint64_t i = 0; i < slots_of_the_ring; ++i) of.ring.push(record_number(i));
    EXPECT_FALSE(of.ring.read(0, got)); // its slot is the next to be written
    EXPECT_TRUE(of.ring.read(1, got));
}

TEST(flight_ring, another_thread_reads_while_it_is_written) {
    ring_of_eight of;
    std::atomic<bool> has_read_enough = false;
    std::uint64_t whole = 0;
    std::uint64_t torn = 0;
    std::thread reader([&] {
        while (whole < 20'000) {
            auto const end = of.ring.pushed();
            for (auto number = end < slots_of_the_ring ? 0 : end - slots_of_the_ring; number < end;
                 ++number) {
                flight_record got;
                if (!of.ring.read(number, got)) continue;
                ++whole;
                if (got != record_number(number)) ++torn;
            }
        }
        has_read_enough = true;
    });
    for (std::uint64_t i = 0; !has_read_enough; ++i) of.ring.push(record_number(i));
    reader.join();
    EXPECT_EQ(torn, 0U);
    EXPECT_GE(whole, 20'000U);
}

} // namespace
} // namespace pitsaw
