#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_group.h>
#include <string_view>
namespace {
long fib(long n) {
    if (n < 2) return n;
    long a = 0, b = 0;
    tbb::task_group g;
    g.run([&] { a = fib(n - 1); });
    b = fib(n - 2);
    g.wait();
    return a + b;
}
long skynet(long first, long size) {
    if (size == 1) return first;
    std::array<long, 10> sums;
    tbb::task_group g;
    long part = size / 10;
    for (int i = 0; i < 10; ++i) g.run([&, i] { sums[i] = skynet(first + i * part, part); });
    g.wait();
    long s = 0;
    for (long e : sums) s += e;
    return s;
}
} // namespace
int main(int, char** argv) {
    std::string_view which = argv[1];
    tbb::global_control limit(tbb::global_control::max_allowed_parallelism, atoi(argv[2]));
    for (int i = 0; i < 5; ++i) {
        auto t0 = std::chrono::steady_clock::now();
        long r = which == "fib" ? fib(32) : skynet(0, 1000000);
        std::printf("%ld %.3f ms\n", r,
                    std::chrono::duration<double>(std::chrono::steady_clock::now() - t0).count() * 1e3);
    }
}
