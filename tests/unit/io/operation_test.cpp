#include <pitsaw/io/buffer.hpp>
#include <pitsaw/io/operation.hpp>

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <type_traits>
#include <vector>

namespace pitsaw {
namespace {

static_assert(!std::is_move_constructible_v<operation> && !std::is_move_assignable_v<operation>);
static_assert(!std::is_copy_constructible_v<operation> && !std::is_copy_assignable_v<operation>);

TEST(operation, sizes_are_those_of_the_table) {
    EXPECT_EQ(sizeof(operation), 80);
    EXPECT_EQ(sizeof(operation::scratch), 32); // an OVERLAPPED on 64-bit Windows
    EXPECT_EQ(alignof(operation), 8);
    EXPECT_EQ(sizeof(descriptor), 8);
}

TEST(operation, a_new_one_is_not_in_flight_and_has_no_target) {
    operation const op(op_code::receive);
    EXPECT_EQ(op.state, 0);
    EXPECT_FALSE(op.target);
    EXPECT_EQ(op.on_event, nullptr);
}

TEST(operation, destroying_one_in_flight_is_a_checked_error) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    auto const destroy = [] {
        operation op;
        op.state = 1;
    };
    EXPECT_DEATH(destroy(), "destroyed while it was in flight");
}

TEST(operation, each_code_has_a_name) {
    EXPECT_EQ(name(op_code::nop), "nop");
    EXPECT_EQ(name(op_code::close), "close");
    EXPECT_EQ(name(static_cast<op_code>(250)), "an operation code out of range");
}

TEST(buffer, lends_what_can_be_written_and_what_can_be_read) {
    std::array<std::byte, 5> bytes{};
    operation op(op_code::receive);
    set_buffer(op, bytes);
    EXPECT_EQ(buffer_of(op).data(), bytes.data());
    EXPECT_EQ(buffer_of(op).size(), 5);
    set_source(op, std::span(bytes).first(2));
    EXPECT_EQ(buffer_of(op).size(), 2);
}

TEST(buffer, one_operation_lends_at_most_what_a_result_can_count) {
    auto* const start = reinterpret_cast<std::byte*>(0x1000); // not touched
    operation op(op_code::send);
    set_source(op, std::span<std::byte const>(start, transfer_bytes_max + 1));
    EXPECT_EQ(op.length, transfer_bytes_max);
}

} // namespace
} // namespace pitsaw
