// A user's test: every allocation fails once, those of his own too.
#include <pitsaw/pitsaw.hpp>
#include <pitsaw/sim/check_faults.hpp>

#include <chrono>
#include <iostream>
#include <string>
#include <vector>

using namespace std::chrono_literals;
namespace ps = pitsaw;

ps::task<> keep_words(std::vector<std::string>& words) {
    for (int i = 0; i < 3; ++i) {
        words.emplace_back(100, 'x');
        co_await ps::sleep(1ms);
    }
}

int main() {
    std::vector<std::string> words;
    auto const report = ps::sim::check_faults([&] {
        words.clear();
        words.shrink_to_fit();
        return keep_words(words);
    });
    std::cout << report << '\n';
    // The task's frame, three texts and the memory of the vector.
    return report && report.points(ps::sim::fault_kind::allocation) >= 5 ? 0 : 1;
}
