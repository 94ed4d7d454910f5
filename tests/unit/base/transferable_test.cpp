#include <pitsaw/base/transferable.hpp>

#include <pitsaw/http/client.hpp>
#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace ps = pitsaw;

namespace {

struct cache {
    using bound_to_worker = void;
};
template <class T> struct box {
    T inside;
};
template <class T, std::size_t Room> struct small_vector {
    T* many;
    T* few[Room];
};

TEST(transferable, is_what_has_no_word_against_it) {
    EXPECT_TRUE((ps::transferable<int>));
    EXPECT_TRUE((ps::transferable<std::vector<std::pair<int, std::string>>>));
    EXPECT_TRUE((ps::transferable<std::function<void(cache&)>>)); // it holds none, as far as can be seen
    EXPECT_TRUE((ps::transferable<ps::channel<int>*>));
    EXPECT_TRUE((ps::transferable<ps::executor_ref>));
    EXPECT_TRUE((ps::transferable<ps::portal>));
    EXPECT_FALSE((ps::transferable<cache>));
}

TEST(transferable, is_not_what_holds_or_points_to_something_that_is_not) {
    EXPECT_FALSE((ps::transferable<cache const&>));
    EXPECT_FALSE((ps::transferable<cache* const>));
    EXPECT_FALSE((ps::transferable<cache[2]>));
    EXPECT_FALSE((ps::transferable<std::array<cache, 2>>));
    EXPECT_FALSE((ps::transferable<std::vector<cache*>>));
    EXPECT_FALSE((ps::transferable<std::map<int, std::unique_ptr<cache>>>));
    EXPECT_FALSE((ps::transferable<std::tuple<int, std::optional<cache>>>));
    EXPECT_FALSE((ps::transferable<std::expected<cache, int>>));
    EXPECT_FALSE((ps::transferable<std::reference_wrapper<cache>>));
    EXPECT_FALSE((ps::transferable<std::shared_ptr<cache> const&>));
    EXPECT_FALSE((ps::transferable<box<cache>>));
    EXPECT_FALSE((ps::transferable<std::span<cache>>));
    EXPECT_FALSE((ps::transferable<std::span<cache const, 4>>));
    EXPECT_FALSE((ps::transferable<small_vector<cache*, 4>>));
    EXPECT_TRUE((ps::transferable<std::span<char>>));
    EXPECT_TRUE((ps::transferable<small_vector<int, 4>>));
}

TEST(transferable, a_callable_that_cannot_be_copied_is_asked_about) {
    int number = 1;
    auto refers = [&number] { return number; };
    auto owns = [kept = std::make_unique<int>(2)] { return *kept; };
    EXPECT_TRUE((ps::transferable_call<decltype(refers)>));
    EXPECT_TRUE((ps::transferable_call<int (*)(int)>));
    EXPECT_FALSE((ps::transferable_call<decltype(owns)>));
    ps::assume_transferable looked_at(std::move(owns));
    EXPECT_TRUE((ps::transferable_call<decltype(looked_at)>));
    EXPECT_EQ(looked_at(), 2);
}

TEST(transferable, is_nothing_that_belongs_to_a_worker) {
    EXPECT_FALSE((ps::transferable<ps::tcp_stream>));
    EXPECT_FALSE((ps::transferable<ps::tcp_listener&>));
    EXPECT_FALSE((ps::transferable<ps::any_stream>));
    EXPECT_FALSE((ps::transferable<ps::buffered_reader<ps::tcp_stream>*>));
    EXPECT_FALSE((ps::transferable<ps::lease>));
    EXPECT_FALSE((ps::transferable<ps::buffer_pool*>));
    EXPECT_FALSE((ps::transferable<ps::task_group&>));
    EXPECT_FALSE((ps::transferable<ps::interval>));
    EXPECT_FALSE((ps::transferable<ps::http::client*>));
}

} // namespace
