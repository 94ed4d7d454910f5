#include <pitsaw/base/ring.hpp>

#include <gtest/gtest.h>

#include <memory>

namespace {

using namespace pitsaw;

TEST(ring, first_in_is_first_out_over_its_end) {
    ring<int> three(3);
    EXPECT_EQ(three.capacity(), 3u);
    for (int i = 0; i < 3; ++i) three.push(i);
    EXPECT_TRUE(three.is_full());
    for (int i = 3; i < 20; ++i) {
        EXPECT_EQ(three.pop(), i - 3);
        three.push(i);
        EXPECT_EQ(three.at(0), i - 2);
        EXPECT_EQ(three.at(2), i);
    }
    EXPECT_EQ(three.size(), 3u);
    three.clear();
    EXPECT_TRUE(three.empty());
}

TEST(ring, destroys_what_is_left_in_it) {
    auto const shared = std::make_shared<int>(1);
    {
        ring<std::shared_ptr<int>> two(2);
        two.push(shared);
        two.push(shared);
        EXPECT_EQ(shared.use_count(), 3);
        (void)two.pop();
        EXPECT_EQ(shared.use_count(), 2);
    }
    EXPECT_EQ(shared.use_count(), 1);
}

} // namespace
