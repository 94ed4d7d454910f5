// One round of one case: `pitsaw_micro CASE [OPERATIONS]`. Prints the time of an operation, then, of a second
// pass, how many heap allocations and coroutine frames an operation takes.
#include "meter.hpp"

#include <pitsaw/io/await_operation.hpp>
#include <pitsaw/io/driver.hpp>
#include <pitsaw/pitsaw.hpp>

#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <string_view>
#include <vector>

namespace {
std::uint64_t heap_allocations = 0;
}

void* operator new(std::size_t const size) {
    ++heap_allocations;
    if (void* const made = std::malloc(size)) return made;
    throw std::bad_alloc();
}
void operator delete(void* const memory) noexcept { std::free(memory); }
void operator delete(void* const memory, std::size_t) noexcept { std::free(memory); }

namespace {

namespace ps = pitsaw;
using namespace std::chrono_literals;

// ---- What is awaited. A hidden child has a frame; a visible one may become a part of its parent's.

[[gnu::noinline]] ps::task<std::uint64_t> hidden_child(std::uint64_t const x) { co_return x; }
inline ps::task<std::uint64_t> visible_child(std::uint64_t const x) { co_return x + 1; }
[[gnu::noinline]] ps::task<ps::io_result<std::uint64_t>> hidden_io_child(std::uint64_t const x) {
    co_return x;
}

struct nop : ps::operation_leaf {
    nop() : operation_leaf(ps::op_code::nop, {}) {}
    int await_resume() const noexcept { return done().result; }
};

/// Completes every operation at the next poll: what is left is the cost of the leaf and of the loop.
class next_poll_driver final : public ps::driver {
  public:
    auto now() const noexcept -> ps::time_point override { return now_; }
    auto attach(ps::native_handle) noexcept -> ps::io_result<ps::descriptor> override {
        return std::unexpected(std::make_error_code(std::errc::bad_file_descriptor));
    }
    auto open_stream(ps::address_family) noexcept -> ps::io_result<ps::descriptor> override {
        return attach(ps::native_handle::none);
    }
    auto control(ps::descriptor, ps::socket_command&) noexcept -> ps::io_result<void> override {
        return std::unexpected(std::make_error_code(std::errc::bad_file_descriptor));
    }
    auto lend(std::span<std::byte>, std::uint32_t) noexcept -> ps::io_result<std::uint16_t> override {
        return std::unexpected(std::make_error_code(std::errc::not_enough_memory));
    }
    void give_back(std::uint16_t, std::uint16_t) noexcept override {}
    auto attempt(ps::operation&, ps::event&) noexcept -> bool override { return false; }
    void submit(ps::operation& op) noexcept override {
        op.state = 1;
        *last_ = &op;
        last_ = &op.next;
    }
    void cancel(ps::operation&) noexcept override {}
    auto poll(std::span<ps::event> out, ps::time_point) noexcept -> std::size_t override {
        std::size_t count = 0;
        for (; first_ != nullptr && count < out.size(); ++count) {
            auto& done = *std::exchange(first_, first_->next);
            done.state = 0;
            done.next = nullptr;
            out[count] = ps::event{.op = &done, .result = 0, .flags = ps::event_flag::none};
        }
        if (first_ == nullptr) last_ = &first_;
        return count;
    }
    void wake() noexcept override {}
    [[nodiscard]] auto detach(ps::descriptor) noexcept -> ps::io_result<ps::native_handle> override {
        return std::unexpected(std::make_error_code(std::errc::bad_file_descriptor));
    }
    void discard(ps::descriptor) noexcept override {}
    auto drain(std::span<ps::event>, ps::time_point) noexcept -> ps::drain_progress override { return {}; }
    auto features() const noexcept -> ps::driver_features override { return {}; }

  private:
    ps::time_point now_{};
    ps::operation* first_ = nullptr;
    ps::operation** last_ = &first_;
};

// ---- The cases: each does `count` operations.

ps::task<> nested_hidden(std::uint64_t const count) {
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        sum += co_await hidden_child(i);
        keep(sum);
    }
}

ps::task<> nested_visible(std::uint64_t const count) {
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        sum = co_await visible_child(sum);
        keep(sum);
    }
}

[[gnu::noinline]] ps::task<std::uint64_t> eight_in_a_row(std::uint64_t x) {
    x = co_await visible_child(x);
    x = co_await visible_child(x);
    x = co_await visible_child(x);
    x = co_await visible_child(x);
    x = co_await visible_child(x);
    x = co_await visible_child(x);
    x = co_await visible_child(x);
    co_return x;
}

ps::task<> straight_line(std::uint64_t const count) { // seven visible ones and the hidden one around them
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < count; i += 8) {
        sum = co_await eight_in_a_row(sum);
        keep(sum);
    }
}

ps::task<> leaf_inline(std::uint64_t const count) {
    for (std::uint64_t i = 0; i < count; ++i) co_await ps::sleep(0ns);
}

ps::task<> leaf_suspending_timer(std::uint64_t const count) {
    for (std::uint64_t i = 0; i < count; ++i) co_await ps::sleep(1ns);
}

ps::task<> leaf_suspending_operation(std::uint64_t const count) {
    for (std::uint64_t i = 0; i < count; ++i) keep(co_await nop());
}

ps::task<> yielding(std::uint64_t const count) {
    for (std::uint64_t i = 0; i < count; ++i) co_await ps::this_task::yield();
}

ps::task<> checkpoint(std::uint64_t const count) {
    for (std::uint64_t i = 0; i < count; ++i) co_await ps::this_task::checkpoint();
}

ps::task<> yield(std::uint64_t const count) {
    co_await ps::when_all(yielding(count / 2), yielding(count / 2));
}

ps::task<> a_hundred_children(ps::task_group& group) {
    for (std::uint64_t i = 0; i < 100; ++i) group.spawn(hidden_child(i));
    co_return;
}

ps::task<> spawn_join(std::uint64_t const count) {
    for (std::uint64_t i = 0; i < count; i += 100) co_await ps::task_group::run(a_hundred_children);
}

ps::task<> when_any_of_two(std::uint64_t const count) {
    for (std::uint64_t i = 0; i < count; ++i) {
        auto first = co_await ps::when_any(hidden_child(i), hidden_child(i));
        keep(first);
    }
}

ps::task<> when_all_of_two(std::uint64_t const count) {
    for (std::uint64_t i = 0; i < count; ++i) {
        auto both = co_await ps::when_all(hidden_child(i), hidden_child(i));
        keep(both);
    }
}

ps::task<> as_outcome(std::uint64_t const count) {
    for (std::uint64_t i = 0; i < count; ++i) {
        auto end = co_await ps::as_outcome(hidden_child(i));
        keep(end);
    }
}

ps::task<> with_timeout(std::uint64_t const count) {
    for (std::uint64_t i = 0; i < count; ++i) {
        auto result = co_await ps::with_timeout(1h, hidden_child(i));
        keep(result);
    }
}

ps::task<> or_return(std::uint64_t const count) {
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        sum += co_await ps::or_return(hidden_io_child(i));
        keep(sum);
    }
}

ps::task<> clean_up(std::uint64_t) { co_return; }

[[gnu::noinline]] ps::task<> child_with_clean_up(std::uint64_t const x) { co_await ps::at_exit(clean_up, x); }

ps::task<> at_exit(std::uint64_t const count) {
    for (std::uint64_t i = 0; i < count; ++i) co_await child_with_clean_up(i);
}

// ---- Primitives that nobody else wants, and one that two hand to each other.

ps::task<> mutex(std::uint64_t const count) {
    ps::mutex of;
    for (std::uint64_t i = 0; i < count; ++i) {
        auto const held = co_await of.lock();
        keep(held);
    }
}

ps::task<> semaphore(std::uint64_t const count) {
    ps::semaphore of(2);
    for (std::uint64_t i = 0; i < count; ++i) {
        auto const permit = co_await of.acquire();
        keep(permit);
    }
}

ps::task<> hold_across_a_yield(ps::mutex& of, std::uint64_t const count) {
    for (std::uint64_t i = 0; i < count; ++i) {
        auto const held = co_await of.lock();
        co_await ps::this_task::yield(); // the other comes to wait
    }
}

ps::task<> mutex_handed_over(std::uint64_t const count) {
    ps::mutex of;
    co_await ps::when_all(hold_across_a_yield(of, count / 2), hold_across_a_yield(of, count / 2));
}

std::vector<ps::timer_node> timers_with_deadlines(std::uint64_t const count, ps::time_point const now) {
    std::vector<ps::timer_node> nodes(count);
    for (std::uint64_t i = 0; i < count; ++i) {
        nodes[i].deadline = now + std::chrono::milliseconds(timeout_ms(i));
        nodes[i].on_expired = [](ps::timer_node&) noexcept {};
    }
    return nodes;
}

/// A connection's timeout among a million others: armed, and taken back when the child is done.
ps::task<> with_timeout_among_million(std::uint64_t const count) {
    auto& worker = *(co_await ps::this_task::get_environment()).executor;
    auto others = timers_with_deadlines(1'000'000, worker.now());
    for (auto& other : others) worker.timers.arm(other);
    co_await with_timeout(count);
    for (auto& other : others) worker.timers.disarm(other);
}

// ---- Without coroutines.

double arm_and_cancel(std::uint64_t const count) {
    ps::timer_queue queue(ps::time_point{});
    auto nodes = timers_with_deadlines(count, ps::time_point{});
    double const begun = cpu_ns();
    for (auto& node : nodes) queue.arm(node);
    for (auto& node : nodes) queue.disarm(node);
    return cpu_ns() - begun;
}

double attach_and_detach(std::uint64_t const count) {
    ps::inplace_stop_source source;
    auto const token = source.get_token();
    double const begun = cpu_ns();
    for (std::uint64_t i = 0; i < count; ++i) {
        auto nothing = [] noexcept {};
        ps::inplace_stop_callback<decltype(nothing)> const callback(token, nothing);
        keep(callback);
    }
    return cpu_ns() - begun;
}

// ---- Measuring.

using coroutine_case = ps::task<> (*)(std::uint64_t);

double run_on(ps::runtime& on, coroutine_case const work, std::uint64_t const count) {
    double const begun = cpu_ns();
    auto const end = ps::sync_wait(on, work(count));
    double const total = cpu_ns() - begun;
    if (!end.has_value()) std::abort();
    return total;
}

struct bench_case {
    std::string_view name;
    std::uint64_t operations;
    coroutine_case work = nullptr;                     ///< either this
    double (*plain)(std::uint64_t) = nullptr;          ///< or this
    std::unique_ptr<ps::driver> (*driver)() = nullptr; ///< null: the runtime chooses
};

void measure(bench_case const& chosen, std::uint64_t const count) {
    if (chosen.plain != nullptr) return print_time(chosen.plain(count), count);
    std::optional<ps::runtime> on;
    if (chosen.driver != nullptr)
        on.emplace(chosen.driver());
    else
        on.emplace();
    run_on(*on, chosen.work, count / 100 + 100); // fills the recycler
    print_time(run_on(*on, chosen.work, count), count);

    auto const counted = count / 10;
    auto const heap_before = heap_allocations;
    auto const frames_before = ps::frame_memory_statistics().frames;
    run_on(*on, chosen.work, counted);
    auto const per_operation = [counted](std::uint64_t const total) {
        return static_cast<double>(total) / static_cast<double>(counted);
    };
    std::printf("allocations count/op %.3f\nframes count/op %.3f\n",
                per_operation(heap_allocations - heap_before),
                per_operation(ps::frame_memory_statistics().frames - frames_before));
}

constexpr std::uint64_t million = 1'000'000;
constexpr bench_case cases[] = {
    {.name = "nested_hidden", .operations = 20 * million, .work = nested_hidden},
    {.name = "nested_visible", .operations = 20 * million, .work = nested_visible},
    {.name = "straight_line", .operations = 16 * million, .work = straight_line},
    {.name = "leaf_inline", .operations = 20 * million, .work = leaf_inline},
    {.name = "leaf_suspending_timer", .operations = 4 * million, .work = leaf_suspending_timer},
    {.name = "leaf_suspending_operation",
     .operations = 4 * million,
     .work = leaf_suspending_operation,
     .driver = []() -> std::unique_ptr<ps::driver> { return std::make_unique<next_poll_driver>(); }},
    {.name = "yield", .operations = 20 * million, .work = yield},
    {.name = "checkpoint", .operations = 50 * million, .work = checkpoint},
    {.name = "spawn_join", .operations = 5 * million, .work = spawn_join},
    {.name = "when_any_of_two", .operations = 4 * million, .work = when_any_of_two},
    {.name = "when_all_of_two", .operations = 4 * million, .work = when_all_of_two},
    {.name = "as_outcome", .operations = 10 * million, .work = as_outcome},
    {.name = "with_timeout", .operations = 5 * million, .work = with_timeout},
    {.name = "with_timeout_among_million", .operations = 5 * million, .work = with_timeout_among_million},
    {.name = "or_return", .operations = 10 * million, .work = or_return},
    {.name = "at_exit", .operations = 4 * million, .work = at_exit},
    {.name = "mutex", .operations = 20 * million, .work = mutex},
    {.name = "mutex_handed_over", .operations = 5 * million, .work = mutex_handed_over},
    {.name = "semaphore", .operations = 20 * million, .work = semaphore},
    {.name = "timer_arm_cancel", .operations = million, .plain = arm_and_cancel},
    {.name = "stop_callback", .operations = 10 * million, .plain = attach_and_detach},
};

} // namespace

int main(int const argument_count, char** const arguments) {
    for (auto const& each : cases) {
        if (argument_count < 2) {
            std::printf("%.*s\n", static_cast<int>(each.name.size()), each.name.data());
        } else if (each.name == arguments[1]) {
            measure(each, argument_count > 2 ? std::strtoull(arguments[2], nullptr, 10) : each.operations);
            return 0;
        }
    }
    return argument_count < 2 ? 0 : 2;
}
