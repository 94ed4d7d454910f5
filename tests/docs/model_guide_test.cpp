// The code of docs/guide/model.md; docs.snippets compares.
#include <pitsaw/model/explore.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>

namespace model = pitsaw::model;

namespace {

auto published_with(std::memory_order order) {
    return [order] {
        model::atomic<bool> is_ready = false;
        model::var<int> data = 0; // a plain int, whose races are found
        model::name(&is_ready, "is_ready");
        model::thread writer([&] {
            data = 42;
            is_ready.store(true, order);
        });
        if (is_ready.load(std::memory_order_acquire)) model::require(data == 42, "the data is there");
    };
}

TEST(model_guide, what_is_right_holds_and_what_is_wrong_is_shown) {
    auto const right = model::explore(published_with(std::memory_order_release));
    EXPECT_TRUE(right.is_complete && !right.has_failed()); // every behaviour was seen
    auto const wrong = model::explore(published_with(std::memory_order_relaxed));
    EXPECT_TRUE(wrong.has_failed()); // "data race: ..."
    std::puts(wrong.trace.c_str());  // each step: thread, operation, order, value and its source
    model::options how;
    how.replay = wrong.replay;
    auto const again = model::explore(how, published_with(std::memory_order_relaxed));
    EXPECT_EQ(again.failure, wrong.failure); // just that run, under a debugger if need be
}

} // namespace
