#include <pitsaw/task/boundary.hpp>

#include <pitsaw/task/sync_wait.hpp>
#include <pitsaw/task/task.hpp>
#include <pitsaw/task/this_task.hpp>
#include <pitsaw/time/sleep.hpp>

#include "lifetime_log.hpp"
#include "run_stopped.hpp"

#include <gtest/gtest.h>

#include <coroutine>
#include <vector>

namespace {

using namespace pitsaw;
using namespace pitsaw::testing;
using namespace std::chrono_literals;

// A boundary by hand: runs its task as a chain of its own and tells how that ended.
class watches : inner_boundary {
  public:
    explicit watches(task<> work) noexcept : inner_boundary(ended), work_(std::move(work)) {}
    [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept {
        enter(header);
        auto& first = work_.startable().promise();
        first.begin_chain(*this, *header.env, &header);
        return transfer(first);
    }
    [[nodiscard]] ending await_resume() const noexcept { return how_; }

  private:
    static std::coroutine_handle<> ended(boundary& edge, promise_header& root, ending how) noexcept {
        auto& self = static_cast<watches&>(edge);
        EXPECT_EQ(&root, self.root);
        self.how_ = how;
        return self.leave();
    }
    task<> work_;
    ending how_{};
};

task<> wait_below(int levels) {
    if (levels > 0)
        co_await wait_below(levels - 1);
    else
        co_await sleep(1s);
}
task<> throw_below(int levels) {
    int const below = levels - 1;
    if (below > 0) co_await throw_below(below);
    throw below;
}
task<std::vector<ending>> watch(int levels) {
    std::vector<ending> seen;
    seen.push_back(co_await watches(throw_below(levels)));
    seen.push_back(co_await watches(wait_below(levels)));
    seen.push_back(co_await watches(wait_below(levels)));
    co_return seen;
}

TEST(boundary, is_told_once_how_its_chain_ended) {
    for (int const levels : {1, 2, 7}) {
        auto const seen = run_stopped(1500ms, watch(levels)).value();
        EXPECT_EQ(seen, (std::vector{ending::exception, ending::value, ending::stopped}));
    }
}

task<ending> watch_the_watched() {
    struct nested {
        static task<> run(ending& inner) {
            inner = co_await watches(wait_below(3));
            co_await this_task::yield();
        }
    };
    ending inner{};
    auto const outer = co_await watches(nested::run(inner));
    EXPECT_EQ(inner, ending::stopped);
    co_return outer;
}

TEST(boundary, passes_a_stop_on_to_the_leaf_of_the_innermost_chain) {
    EXPECT_EQ(run_stopped(10ms, watch_the_watched()).value(), ending::stopped);
}

TEST(boundary, without_a_waiting_leaf_a_stop_asks_nobody) {
    boundary edge([](boundary&, promise_header&, ending) noexcept -> std::coroutine_handle<> {
        return std::noop_coroutine();
    });
    edge.ask_to_stop();
    EXPECT_EQ(edge.waiting, nullptr);
}

TEST(leaf_frame, resumed_tells_its_boundary) {
    struct counts : boundary {
        int values = 0;
        counts()
            : boundary([](boundary& edge, promise_header&, ending how) noexcept -> std::coroutine_handle<> {
                  static_cast<counts&>(edge).values += how == ending::value ? 1 : 0;
                  return std::noop_coroutine();
              }) {}
    } edge;
    environment const env;
    leaf_frame leaf;
    leaf.header.begin_chain(edge, env, nullptr);
    EXPECT_EQ(edge.root, &leaf.header);
    EXPECT_EQ(leaf.header.handle().address(), &leaf);
    leaf.header.handle().resume();
    EXPECT_EQ(edge.values, 1);
}

} // namespace
