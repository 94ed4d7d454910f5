// What the fuzzers begin with and what they have found, through their targets: in every build.
#include "fuzz/targets.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <string>

namespace {

namespace fuzz = pitsaw::fuzz;

struct corpus {
    char const* name;
    fuzz::target feed;

    friend void PrintTo(corpus const& of, std::ostream* out) { *out << of.name; }
};

class fuzz_corpus : public testing::TestWithParam<corpus> {};

TEST_P(fuzz_corpus, breaks_no_rule) {
    auto const [name, feed] = GetParam();
    int fed = 0;
    for (auto const& file : std::filesystem::directory_iterator(std::string(PITSAW_FUZZ_CORPUS "/") + name)) {
        SCOPED_TRACE(file.path().string());
        std::ifstream from(file.path(), std::ios::binary);
        std::string const input{std::istreambuf_iterator<char>(from), {}};
        feed(input);
        for (std::size_t cut = 1; cut < input.size(); cut += 1 + input.size() / 16)
            feed(input.substr(0, cut));
        ++fed;
    }
    EXPECT_GT(fed, 0) << "an empty corpus";
}

INSTANTIATE_TEST_SUITE_P(
    of, fuzz_corpus,
    testing::Values(corpus{"addresses", fuzz::addresses}, corpus{"http_chunked", fuzz::http_chunked},
                    corpus{"http_client", fuzz::http_client}, corpus{"http_events", fuzz::http_events},
                    corpus{"http_heads", fuzz::http_heads}, corpus{"http_server", fuzz::http_server}),
    [](auto const& of) { return std::string(of.param.name); });
#ifdef PITSAW_FUZZ_GATEWAY
INSTANTIATE_TEST_SUITE_P(of_gateway, fuzz_corpus,
                         testing::Values(corpus{"gateway_config", fuzz::gateway_config},
                                         corpus{"gateway_scan", fuzz::gateway_scan}),
                         [](auto const& of) { return std::string(of.param.name); });
#endif

} // namespace
