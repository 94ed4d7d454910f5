#include <pitsaw/scope/group_child.hpp>

#include "observed_runtime.hpp"

#include <pitsaw/io/result.hpp>

#include <gtest/gtest.h>

#include <memory_resource>
#include <stdexcept>
#include <system_error>

namespace ps = pitsaw;

namespace {

TEST(group_child, a_value_is_no_failure_and_neither_is_a_stop) {
    ps::result_slot<int> number;
    EXPECT_FALSE(ps::failure_of(number).is_one()); // nothing: stopped
    number.set_value(3);
    EXPECT_FALSE(ps::failure_of(number).is_one());
    ps::result_slot<ps::io_result<int>> result;
    result.set_value(3);
    EXPECT_FALSE(ps::failure_of(result).is_one());
    ps::result_slot<void> nothing;
    nothing.set_value();
    EXPECT_FALSE(ps::failure_of(nothing).is_one());
}

TEST(group_child, an_exception_is_a_failure_whatever_the_type) {
    ps::result_slot<ps::io_result<void>> result;
    result.set_exception(std::make_exception_ptr(std::runtime_error("boom")));
    auto const failure = ps::failure_of(result);
    EXPECT_TRUE(failure.is_one());
    EXPECT_EQ(ps::testing::text_of(failure.exception), "boom");
}

TEST(group_child, an_error_code_is_kept_as_one_and_another_error_as_an_exception) {
    ps::result_slot<ps::io_result<void>> result;
    result.set_value(std::unexpected(std::make_error_code(std::errc::io_error)));
    EXPECT_EQ(ps::failure_of(result).error, std::errc::io_error);
    EXPECT_EQ(ps::failure_of(result).exception, nullptr);
    ps::result_slot<std::expected<void, int>> number;
    number.set_value(std::unexpected(5));
    auto const failure = ps::failure_of(number);
    ASSERT_NE(failure.exception, nullptr);
    try {
        std::rethrow_exception(failure.exception);
    } catch (std::bad_expected_access<int> const& what) {
        EXPECT_EQ(what.error(), 5);
    }
}

TEST(group_child, an_error_code_of_zero_in_an_unexpected_is_a_failure_all_the_same) {
    ps::result_slot<ps::io_result<void>> result;
    result.set_value(std::unexpected(std::error_code()));
    EXPECT_TRUE(ps::failure_of(result).is_one());
}

TEST(group_child, nodes_come_from_the_resource_or_from_the_frames) {
    std::pmr::monotonic_buffer_resource memory;
    void* const from_resource = ps::allocate_node(&memory, 64);
    ps::free_node(&memory, from_resource, 64);
    auto const before = ps::frame_memory_statistics().live;
    void* const from_frames = ps::allocate_node(nullptr, 64);
    EXPECT_EQ(ps::frame_memory_statistics().live, before + 1);
    ps::free_node(nullptr, from_frames, 64);
    EXPECT_EQ(ps::frame_memory_statistics().live, before);
}

} // namespace
