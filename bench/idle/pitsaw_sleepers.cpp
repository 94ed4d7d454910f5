// pitsaw_sleepers COUNT: so many tasks that sleep; what each of them holds, in all and by parts.
#include <pitsaw/pitsaw.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory_resource>
#include <string>

namespace ps = pitsaw;
using namespace std::chrono_literals;

namespace {

/// Resident memory that no other process shares.
std::uint64_t private_bytes() {
    std::ifstream rollup("/proc/self/smaps_rollup");
    std::uint64_t sum = 0;
    for (std::string line; std::getline(rollup, line);)
        if (line.starts_with("Private_"))
            sum += std::strtoull(line.c_str() + line.find(':') + 1, nullptr, 10);
    return sum << 10;
}

/// Counts what scopes take for their children.
class counting_memory final : public std::pmr::memory_resource {
  public:
    std::uint64_t bytes = 0;

  private:
    void* do_allocate(std::size_t size, std::size_t alignment) override {
        bytes += size;
        return std::pmr::new_delete_resource()->allocate(size, alignment);
    }
    void do_deallocate(void* where, std::size_t size, std::size_t alignment) override {
        std::pmr::new_delete_resource()->deallocate(where, size, alignment);
    }
    [[nodiscard]] bool do_is_equal(memory_resource const& other) const noexcept override {
        return this == &other;
    }
};

ps::task<> sleeps() { co_await ps::sleep(1h); }

ps::task<> hold(std::uint64_t count) {
    co_await ps::task_group::run([count](ps::task_group& group) -> ps::task<> {
        auto const before = private_bytes();
        for (std::uint64_t i = 0; i < count; ++i) group.spawn(sleeps());
        co_await ps::this_task::yield(); // all have begun, and sleep
        std::printf("bytes_per_task bytes %.1f\n",
                    static_cast<double>(private_bytes() - before) / static_cast<double>(count));
        group.request_stop();
    });
}

ps::task<> count_node_bytes() {
    counting_memory counted;
    auto const one = []() -> ps::task<> {
        co_await ps::task_group::run([](ps::task_group& group) -> ps::task<> {
            group.spawn(sleeps());
            group.request_stop();
            co_return;
        });
    };
    co_await ps::with_memory(counted, one());
    std::printf("of_it_child bytes %llu\n", static_cast<unsigned long long>(counted.bytes));
}

} // namespace

int main(int const count, char** const arguments) {
    if (count != 2) return 2;
    ps::runtime rt;
    (void)ps::sync_wait(rt, hold(std::strtoull(arguments[1], nullptr, 10)));
    (void)ps::sync_wait(rt, count_node_bytes());
    std::printf("of_it_leaf bytes %zu\n", sizeof(decltype(ps::sleep(1h))));
    std::printf("of_it_promise bytes %zu\n", sizeof(ps::task<>::promise_type));
}
