#include <pitsaw/io/event.hpp>
#include <pitsaw/io/result.hpp>

#include <gtest/gtest.h>

namespace pitsaw {
namespace {

TEST(result, a_negative_number_equals_its_condition_and_its_code) {
    auto const error = to_error(-static_cast<std::int32_t>(std::errc::connection_reset));
    EXPECT_EQ(error, std::errc::connection_reset);
    EXPECT_EQ(error, std::make_error_code(std::errc::connection_reset));
    EXPECT_FALSE(to_error(0));
    EXPECT_FALSE(to_error(5));
    EXPECT_TRUE(to_error(INT32_MIN)); // whatever it is, it is an error and no overflow
}

TEST(result, an_event_is_a_count_or_an_error) {
    EXPECT_EQ(to_result(event{.result = 7}), 7);
    EXPECT_EQ(to_result(event{.result = 0}), 0);
    EXPECT_EQ(to_result(event{.result = -static_cast<std::int32_t>(std::errc::broken_pipe)}).error(),
              std::errc::broken_pipe);
}

TEST(result, an_event_without_more_is_final) {
    EXPECT_TRUE(event{}.is_final());
    EXPECT_FALSE(event{.flags = event_flag::more}.is_final());
}

TEST(result, progress_is_forgotten_only_on_request) {
    auto const code = std::make_error_code(std::errc::timed_out);
    std::expected<int, transfer_error> const failed = std::unexpected(transfer_error{code, 12});
    EXPECT_EQ(forget_progress(failed).error(), code);
    EXPECT_EQ(forget_progress(std::expected<int, transfer_error>(3)), 3);
    EXPECT_TRUE(forget_progress(std::expected<void, transfer_error>()).has_value());
    static_assert(!std::is_convertible_v<std::expected<int, transfer_error>, io_result<int>>);
}

} // namespace
} // namespace pitsaw
