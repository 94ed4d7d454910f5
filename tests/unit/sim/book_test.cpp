#include <pitsaw/sim/book.hpp>

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace {

using pitsaw::sim::book;
using pitsaw::sim::counted;

TEST(book, balances_when_as_much_was_given_back_as_was_taken) {
    book permits("permits");
    permits.take(3);
    EXPECT_EQ(permits.imbalance(), "3 permits not given back");
    permits.give_back(2);
    permits.give_back();
    EXPECT_EQ(permits.imbalance(), "");
}

TEST(book, tells_what_was_given_back_without_being_taken) {
    book permits("permits");
    permits.give_back(2);
    EXPECT_EQ(permits.imbalance(), "2 permits given back twice");
    permits.clear();
    EXPECT_EQ(permits.imbalance(), "");
}

TEST(counted, counts_every_constructor_and_destructor_in_the_book_of_the_first) {
    book values("values");
    book others("others");
    {
        counted<std::string> first(values, "ada");
        counted<std::string> const copy(first);
        counted<std::string> moved(std::move(first));
        EXPECT_EQ(values.open(), 3);
        counted<std::string> elsewhere(others, "bob");
        elsewhere = moved;
        EXPECT_EQ(*elsewhere, "ada");
        EXPECT_EQ(elsewhere->size(), 3u);
        EXPECT_EQ(others.open(), 1);
        EXPECT_EQ(*copy, *moved);
    }
    EXPECT_EQ(values.imbalance(), "");
    EXPECT_EQ(others.imbalance(), "");
}

} // namespace
