#include <pitsaw/io/buffer_pool.hpp>

#include <pitsaw/executor/runtime.hpp>
#include <pitsaw/pitsaw.hpp>

#include "driver/decorator.hpp"
#include "driver/sim/driver.hpp"
#include "stream_pair.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

namespace ps = pitsaw;
using ps::testing::bytes_of;
using ps::testing::text_of;

namespace {

ps::sim_driver_options world(unsigned inline_percent) {
    auto options = ps::sim_driver_options::calm();
    options.inline_percent = inline_percent;
    return options;
}

TEST(buffer_pool, without_a_buffer_there_is_none) {
    ps::sim_driver driver(ps::sim_driver_options::calm());
    EXPECT_EQ(ps::buffer_pool::make(driver, 0, 4096), nullptr);
    EXPECT_EQ(ps::buffer_pool::make(driver, 4, 0), nullptr);
}

struct lends_nothing : ps::laws::broken::decorator {
    explicit lends_nothing(ps::driver& inner) : decorator(inner) {}
    auto lend(std::span<std::byte>, std::uint32_t) noexcept -> ps::io_result<std::uint16_t> override {
        return std::unexpected(std::make_error_code(std::errc::not_enough_memory));
    }
};

TEST(buffer_pool, there_is_none_where_the_driver_or_the_memory_declines) {
    ps::sim_driver driver(ps::sim_driver_options::calm());
    lends_nothing declines(driver);
    EXPECT_EQ(ps::buffer_pool::make(declines, 4, 4096), nullptr);
}

TEST(buffer_pool, its_buffers_are_apart_and_begin_at_a_page) {
    std::unique_ptr<ps::buffer_pool> pool; // its memory is lent for the driver's life
    ps::sim_driver driver(ps::sim_driver_options::calm());
    pool = ps::buffer_pool::make(driver, 3, 4096);
    ASSERT_NE(pool, nullptr);
    for (std::uint16_t i = 0; i < 3; ++i) EXPECT_EQ(pool->bytes_of(i).size(), 4096u);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pool->bytes_of(0).data()) % 4096, 0u);
    EXPECT_EQ(pool->bytes_of(1).data() - pool->bytes_of(0).data(), 4096);
}

// Sends one letter at a time, and receives each into a lease.
ps::task<ps::io_result<std::vector<ps::lease>>> receive_letters(ps::testing::stream_pair& ends,
                                                                std::string_view letters) {
    std::vector<ps::lease> held;
    for (auto const& letter : letters) {
        co_await ps::or_return(ends.client.send_all(std::as_bytes(std::span(&letter, 1))));
        held.push_back(co_await ps::or_return(ends.server.receive()));
    }
    co_return ps::io_result<std::vector<ps::lease>>(std::move(held));
}

struct pooled_world {
    explicit pooled_world(unsigned inline_percent, std::uint32_t buffers) {
        ps::runtime_options options;
        options.pool_buffers = buffers;
        auto made = std::make_unique<ps::sim_driver>(world(inline_percent));
        driver = made.get();
        rt.emplace(std::move(made), options);
    }
    ps::sim_driver* driver = nullptr;
    std::optional<ps::runtime> rt;
};

ps::task<ps::io_result<void>> hold_then_give_back(ps::sim_driver& driver, std::size_t pooled_max) {
    auto ends = co_await ps::or_return(ps::testing::connect_pair());
    auto held = co_await ps::or_return(receive_letters(ends, "abcde"));
    std::size_t pooled = 0;
    for (auto const& one : held) pooled += one.is_pooled() ? 1 : 0;
    EXPECT_EQ(pooled, pooled_max);
    EXPECT_EQ(driver.statistics().buffers_out, pooled_max);
    std::string letters;
    for (auto const& one : held) letters += text_of(one);
    EXPECT_EQ(letters, "abcde");
    held.clear();
    EXPECT_EQ(driver.statistics().buffers_out, 0u);
    auto const again = co_await ps::or_return(receive_letters(ends, "f"));
    EXPECT_EQ(again.front().is_pooled(), pooled_max != 0);
    co_return {};
}

TEST(lease, holds_a_buffer_of_the_pool_until_its_end_and_the_heap_helps_out) {
    for (unsigned const inline_percent : {0u, 100u}) {
        for (std::uint32_t const buffers : {0u, 1u, 2u, 5u}) {
            pooled_world in(inline_percent, buffers);
            auto const end = ps::sync_wait(*in.rt, hold_then_give_back(*in.driver, buffers));
            EXPECT_TRUE(end.has_value() && end.value().has_value());
        }
    }
}

ps::task<ps::io_result<void>> end_of_stream(ps::sim_driver& driver) {
    auto ends = co_await ps::or_return(ps::testing::connect_pair());
    co_await ps::or_return(ends.client.shutdown_send());
    auto const last = co_await ps::or_return(ends.server.receive());
    EXPECT_TRUE(last.empty());
    EXPECT_FALSE(last.is_pooled());
    EXPECT_EQ(driver.statistics().buffers_out, 0u);
    co_return {};
}

TEST(lease, is_empty_and_holds_nothing_at_the_end_of_the_stream) {
    for (std::uint32_t const buffers : {0u, 2u}) {
        pooled_world in(0, buffers);
        auto const end = ps::sync_wait(*in.rt, end_of_stream(*in.driver));
        EXPECT_TRUE(end.has_value() && end.value().has_value());
    }
}

ps::task<ps::io_result<void>> moves(ps::sim_driver& driver) {
    auto ends = co_await ps::or_return(ps::testing::connect_pair());
    auto held = co_await ps::or_return(receive_letters(ends, "abc"));
    EXPECT_EQ(driver.statistics().buffers_out, 2u); // the third is of the heap
    ps::lease first = std::move(held[0]);
    EXPECT_TRUE(held[0].empty());
    EXPECT_FALSE(held[0].is_pooled());
    first = std::move(held[1]);
    EXPECT_EQ(driver.statistics().buffers_out, 1u);
    EXPECT_EQ(text_of(first), "b");
    first = std::move(held[2]);
    EXPECT_EQ(driver.statistics().buffers_out, 0u);
    EXPECT_EQ(text_of(first), "c");
    first = ps::lease();
    EXPECT_TRUE(first.empty());
    co_return {};
}

TEST(lease, moved_or_assigned_to_gives_back_exactly_what_it_held) {
    pooled_world in(100, 2);
    auto const end = ps::sync_wait(*in.rt, moves(*in.driver));
    EXPECT_TRUE(end.has_value() && end.value().has_value());
}

} // namespace
