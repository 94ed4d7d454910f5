// pitsaw_stop_slot [WAY AWAITS]: what it costs that a stop can reach a leaf that waits. WAY: `none`, `slot`,
// `callback`.
//
// Two tasks wait for each other by turns: each await completes the other's leaf and then suspends, so that a
// leaf is suspended in one function and completed in another, as by a driver's event. Without arguments all
// ways are measured in short blocks by turns, and what is printed are medians.
#include "../micro/meter.hpp"

#include <pitsaw/pitsaw.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace ps = pitsaw;

namespace {

/// A leaf that no stop can reach.
struct unreachable_leaf {
    std::coroutine_handle<> suspend(ps::promise_header& header) noexcept {
        waiting = &header;
        header.env->executor->note_suspension(header);
        return std::noop_coroutine();
    }
    void complete() noexcept {
        waiting->env->executor->ready.push(*waiting);
        waiting->env->executor->note_completion(*waiting);
    }
    ps::promise_header* waiting = nullptr;
};

/// As the library's leaves.
struct slot_leaf : ps::waiter {
    slot_leaf() noexcept : waiter(asked) {}
    std::coroutine_handle<> suspend(ps::promise_header& header) noexcept {
        waiting = &header;
        return header.suspend_at(*this);
    }
    void complete() noexcept { waiting->complete_here(); }
    static void asked(ps::waiter& self) noexcept { static_cast<slot_leaf&>(self).complete(); }
    ps::promise_header* waiting = nullptr;
};

/// One with a callback of its own at the environment's token.
struct callback_leaf : unreachable_leaf {
    struct asked {
        callback_leaf* leaf;
        void operator()() const noexcept { leaf->unreachable_leaf::complete(); }
    };
    std::coroutine_handle<> suspend(ps::promise_header& header) noexcept {
        at_stop.emplace(header.env->stop, asked{this});
        return unreachable_leaf::suspend(header);
    }
    void complete() noexcept {
        at_stop.reset();
        unreachable_leaf::complete();
    }
    std::optional<ps::inplace_stop_callback<asked>> at_stop;
};

/// Completes the leaf that waits, and waits in its place.
template <class Leaf> class turn : Leaf {
  public:
    explicit turn(turn*& waiting) noexcept : waiting_(waiting) {}
    std::coroutine_handle<> start(ps::promise_header& header) noexcept {
        if (header.env->stop.stop_requested()) [[unlikely]]
            return header.stop_here();
        if (auto* const other = std::exchange(waiting_, this)) other->complete();
        return this->suspend(header);
    }
    void await_resume() const noexcept {}
    void release() noexcept { this->complete(); }

  private:
    turn*& waiting_;
};

template <class Leaf> ps::task<> take_turns(turn<Leaf>*& waiting, std::uint64_t const count) {
    for (std::uint64_t i = 0; i < count; ++i) co_await turn<Leaf>(waiting);
    if (auto* const other = std::exchange(waiting, nullptr)) other->release();
}

template <class Leaf> ps::task<> both(std::uint64_t const count) {
    turn<Leaf>* waiting = nullptr;
    co_await ps::when_all(take_turns(waiting, count / 2), take_turns(waiting, count / 2));
}

struct way {
    std::string_view name;
    ps::task<> (*work)(std::uint64_t);
};
constexpr std::array ways = {way{"none", both<unreachable_leaf>}, way{"slot", both<slot_leaf>},
                             way{"callback", both<callback_leaf>}};

double run_on(ps::runtime& on, way const& which, std::uint64_t const count) {
    double const begun = cpu_ns();
    auto const end = ps::sync_wait(on, which.work(count));
    double const total = cpu_ns() - begun;
    if (!end.has_value()) std::abort();
    return total / static_cast<double>(count);
}

double median(std::vector<double> values) {
    auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

void by_turns(ps::runtime& on) {
    constexpr std::uint64_t awaits = 20'000;
    constexpr std::size_t blocks = 1'000;
    std::array<std::vector<double>, ways.size()> times;
    for (std::size_t block = 0; block <= blocks; ++block)
        for (std::size_t i = 0; i < ways.size(); ++i) {
            auto const which = (block + i) % ways.size();
            auto const took = run_on(on, ways[which], awaits);
            if (block != 0) times[which].push_back(took); // the first warms up
        }
    for (std::size_t i = 0; i < ways.size(); ++i) {
        auto const name = ways[i].name.data();
        std::printf("%s ns/await %.3f\n", name, median(times[i]));
        if (i == 0) continue;
        std::vector<double> more(blocks);
        for (std::size_t k = 0; k < blocks; ++k) more[k] = times[i][k] - times[0][k];
        std::printf("%s_alone ns/await %.3f\n", name, median(std::move(more)));
    }
}

} // namespace

int main(int const count, char** const arguments) {
    ps::runtime on;
    if (count == 1) {
        by_turns(on);
        return 0;
    }
    for (auto const& each : ways)
        if (count == 3 && each.name == arguments[1]) {
            run_on(on, each, std::strtoull(arguments[2], nullptr, 10));
            return 0;
        }
    return 2;
}
