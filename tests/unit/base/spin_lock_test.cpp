#include <pitsaw/base/spin_lock.hpp>

#include <gtest/gtest.h>

#include <array>
#include <mutex>
#include <thread>

namespace ps = pitsaw;

namespace {

static_assert(sizeof(ps::spin_lock) == 1);

TEST(spin_lock, lets_one_thread_in_at_a_time) {
    ps::spin_lock lock;
    int count = 0; // what TSan watches
    auto const work = [&] {
        for (int i = 0; i < 20'000; ++i) {
            std::scoped_lock const held(lock);
            ++count;
        }
    };
    {
        std::array<std::jthread, 3> const threads{std::jthread(work), std::jthread(work), std::jthread(work)};
    }
    EXPECT_EQ(count, 60'000);
}

} // namespace
