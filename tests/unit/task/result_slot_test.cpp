#include <pitsaw/task/result_slot.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <system_error>

namespace {

using namespace pitsaw;

TEST(result_slot, holds_nothing_at_first) {
    result_slot<int> slot;
    EXPECT_TRUE(slot.is_empty());
    EXPECT_FALSE(slot.has_value());
    EXPECT_FALSE(slot.has_exception());
    EXPECT_FALSE(slot.is_failure());
    EXPECT_EQ(slot.exception(), nullptr);
}

TEST(result_slot, gives_up_its_value) {
    result_slot<std::unique_ptr<int>> slot;
    slot.set_value(std::make_unique<int>(4));
    EXPECT_TRUE(slot.has_value());
    EXPECT_EQ(*slot.take(), 4);
}

TEST(result_slot, keeps_the_address_of_what_a_reference_refers_to) {
    int object = 1;
    result_slot<int&> slot;
    slot.set_value(object);
    EXPECT_EQ(&slot.take(), &object);
}

TEST(result_slot, frees_a_value_that_an_exception_replaces) {
    auto const shared = std::make_shared<int>(1);
    {
        result_slot<std::shared_ptr<int>> slot;
        slot.set_value(shared);
        slot.set_exception(std::make_exception_ptr(std::runtime_error("boom")));
        EXPECT_EQ(shared.use_count(), 1);
        EXPECT_TRUE(slot.has_exception());
        EXPECT_TRUE(slot.is_failure());
        EXPECT_THROW((void)slot.take(), std::runtime_error);
        slot.set_exception(std::make_exception_ptr(std::logic_error("later")));
        EXPECT_THROW((void)slot.take(), std::logic_error);
    }
    EXPECT_EQ(shared.use_count(), 1);
}

struct throws_when_made {
    throws_when_made() { throw std::runtime_error("boom"); }
};

TEST(result_slot, stays_empty_when_the_value_cannot_be_made) {
    result_slot<throws_when_made> slot;
    EXPECT_THROW(slot.set_value(), std::runtime_error);
    EXPECT_TRUE(slot.is_empty());
}

TEST(result_slot, counts_an_expected_with_an_error_as_a_failure) {
    using result = std::expected<int, std::error_code>;
    result_slot<result> good;
    good.set_value(3);
    EXPECT_FALSE(good.is_failure());
    result_slot<result> bad;
    bad.set_value(std::unexpected(std::make_error_code(std::errc::io_error)));
    EXPECT_TRUE(bad.is_failure());
    EXPECT_TRUE(bad.has_value());
}

TEST(result_slot_death_test, asking_too_early_is_a_checked_error) {
    result_slot<int> slot;
    EXPECT_DEATH((void)slot.take(), "a result was asked for before its task had ended");
}

TEST(result_slot, keeps_in_an_ending_what_making_the_value_threw) {
    result_slot<throws_when_made> slot;
    slot.set_value_or_exception();
    EXPECT_TRUE(slot.has_exception());
    EXPECT_THROW((void)slot.take(), std::runtime_error);
}

} // namespace
