#include <pitsaw/task/outcome.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>

namespace {

using namespace pitsaw;

TEST(outcome, holds_a_value) {
    auto end = outcome<int>::completed(3);
    EXPECT_TRUE(end.has_value());
    EXPECT_FALSE(end.has_exception());
    EXPECT_FALSE(end.is_stopped());
    EXPECT_EQ(end.value(), 3);
    EXPECT_EQ(end.exception(), nullptr);
    EXPECT_EQ(end.reason(), stop_reason::none);
}

TEST(outcome, shows_its_value_when_it_is_const) {
    auto const end = outcome<int>::completed(3);
    EXPECT_EQ(end.value(), 3);
    auto const failed = outcome<int>::failed(std::make_exception_ptr(std::runtime_error("boom")));
    EXPECT_THROW((void)failed.value(), std::runtime_error);
}

TEST(outcome, gives_up_a_value_that_cannot_be_copied) {
    auto end = outcome<std::unique_ptr<int>>::completed(std::make_unique<int>(4));
    auto const value = std::move(end).value();
    EXPECT_EQ(*value, 4);
}

TEST(outcome, refers_to_what_a_task_of_a_reference_refers_to) {
    int object = 5;
    auto end = outcome<int&>::completed(object);
    EXPECT_EQ(&end.value(), &object);
    EXPECT_EQ(&outcome<int&>::completed(object).value(), &object);
}

TEST(outcome, of_void_is_a_value_that_says_nothing) {
    EXPECT_TRUE(outcome<void>::completed(std::monostate()).has_value());
}

TEST(outcome, rethrows_an_exception_as_often_as_it_is_asked) {
    auto end = outcome<int>::failed(std::make_exception_ptr(std::runtime_error("boom")));
    EXPECT_TRUE(end.has_exception());
    EXPECT_NE(end.exception(), nullptr);
    EXPECT_THROW((void)end.value(), std::runtime_error);
    EXPECT_THROW((void)end.value(), std::runtime_error);
}

TEST(outcome, tells_why_it_was_stopped) {
    auto const end = outcome<int>::stopped(stop_reason::timeout);
    EXPECT_TRUE(end.is_stopped());
    EXPECT_FALSE(end.has_value());
    EXPECT_EQ(end.reason(), stop_reason::timeout);
    EXPECT_EQ(end.exception(), nullptr);
}

TEST(outcome, tells_an_exception_as_a_value_from_an_exception) {
    using pointer = std::exception_ptr;
    EXPECT_TRUE(outcome<pointer>::completed(pointer()).has_value());
    EXPECT_TRUE(outcome<stop_reason>::completed(stop_reason::timeout).has_value());
}

TEST(outcome_death_test, the_value_of_a_stop_is_a_checked_error) {
    auto end = outcome<int>::stopped(stop_reason::requested);
    EXPECT_DEATH((void)end.value(), "outcome::value\\(\\) of a task that was stopped");
}

} // namespace
