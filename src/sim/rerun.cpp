// How a run is named, and run again.
#include "sim/world_parts.hpp"

#include "sim/commit.hpp"
#include "sim/report_words.hpp"

#include <pitsaw/base/check.hpp>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace pitsaw::inline v0::sim {

namespace {

/// The words of this process, as a shell takes them.
std::string command_line() {
    std::ifstream from("/proc/self/cmdline", std::ios::binary); // proc(5): each word ends with a NUL
    std::string const words{std::istreambuf_iterator<char>(from), {}};
    std::string line, word;
    for (char const one : words) {
        if (one != '\0') {
            word += one;
            continue;
        }
        bool const is_plain = word.find_first_of(" \t\n\"'\\$`*?[]()<>|&;#~{}!") == std::string::npos;
        line.append(line.empty() ? "" : " ");
        if (is_plain && !word.empty()) {
            line.append(word);
        } else {
            line.append("'");
            for (char const each : word) line.append(each == '\'' ? "'\\''" : std::string(1, each));
            line.append("'");
        }
        word.clear();
    }
    return line;
}

std::uint64_t number_from_environment(char const* name, std::uint64_t const otherwise, char const* wrong) {
    char const* const text = std::getenv(name);
    if (text == nullptr) return otherwise;
    char* end = nullptr;
    errno = 0;
    auto const number = std::strtoull(text, &end, 10); // which takes blanks and signs too
    check(errno == 0 && *text >= '0' && *text <= '9' && end != text && *end == '\0', wrong);
    return number;
}

} // namespace

std::uint64_t seed_from_environment(std::uint64_t const otherwise) {
    return number_from_environment("PITSAW_SIM_SEED", otherwise,
                                   "PITSAW_SIM_SEED is not a number of 64 bits: set it to the seed "
                                   "that the failing run printed");
}

std::uint64_t seeds_from_environment(std::uint64_t const otherwise) {
    return number_from_environment("PITSAW_SIM_SEEDS", otherwise,
                                   "PITSAW_SIM_SEEDS is not a number: it says how many seeds a test tries");
}

std::string rerun_of(std::uint64_t const seed, std::uint64_t const step) {
    return "seed " + std::to_string(seed) + ", commit " + commit + ", step " + std::to_string(step) +
           ": PITSAW_SIM_SEED=" + std::to_string(seed) + " " + command_line();
}

std::string world::rerun() const { return rerun_of(seed(), steps()); }

std::string world::parts::begin_line(std::string const& name) const {
    char text[40];
    std::snprintf(text, sizeof text, "%14.6f ms ",
                  std::chrono::duration<double, std::milli>(network.now().time_since_epoch()).count());
    return text + name + ": ";
}

} // namespace pitsaw::inline v0::sim
