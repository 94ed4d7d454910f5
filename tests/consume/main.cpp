#include <pitsaw/pitsaw.hpp>

using namespace std::chrono_literals;
namespace ps = pitsaw;

ps::task<int> answer() {
    co_await ps::sleep(1ms);
    co_return 42;
}
ps::task<int> main_task() {
    int const value = co_await answer();
    co_return value == 42 ? 0 : 1;
}

int main() { return ps::run(main_task()); }
