#include "model/weakened.hpp"

#include "loop/flight_record.hpp"

#include <pitsaw/model/explore.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

// A reader of loop/flight_record.hpp beside its writer: what it takes for a record is one, and whole.

namespace {

using namespace pitsaw;
using model::require;
using model::thread;

auto record_of(std::uint64_t number) -> flight_record {
    return {.time = static_cast<std::int64_t>(number), .result = 0, .subject = number};
}

void a_reader_beside_the_writer() {
    constexpr std::uint32_t slots = 2;
    flight_ring::word head = 0;
    std::array<flight_ring::word, slots * flight_ring::words_of_a_slot> words = {};
    flight_ring ring(head, words.data(), slots);
    ring.push(record_of(1));
    thread writer([&] {
        ring.push(record_of(2));
        ring.push(record_of(3));
    });
    for (std::uint64_t number = 0; number < 2; ++number) {
        flight_record got;
        if (ring.read(number, got)) require(got == record_of(number + 1), "a record is whole");
    }
}

TEST(flight_ring, reads_no_torn_record_and_needs_each_of_its_orders) {
    auto const found = pitsaw::testing::weaken_each({a_reader_beside_the_writer}, {"loop/flight_record.hpp"});
    EXPECT_EQ(found.failure, "");
    EXPECT_TRUE(found.unnoticed.empty()) << pitsaw::testing::text_of(found);
    EXPECT_GE(found.noticed, 4U) << pitsaw::testing::text_of(found);
}

} // namespace
