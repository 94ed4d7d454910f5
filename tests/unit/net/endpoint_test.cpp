#include <pitsaw/net/endpoint.hpp>

#include <gtest/gtest.h>

namespace ps = pitsaw;

namespace {

TEST(endpoint, reads_and_prints_addresses_with_ports) {
    for (auto const* text : {"127.0.0.1:80", "[::1]:80", "0.0.0.0:0", "[fe80::1%3]:65535"}) {
        auto const parsed = ps::endpoint::parse(text);
        ASSERT_TRUE(parsed.has_value()) << text;
        EXPECT_EQ(parsed->to_string(), text);
    }
    EXPECT_EQ(ps::endpoint::loopback(7), ps::endpoint::parse("127.0.0.1:7").value());
    EXPECT_EQ(ps::endpoint::any(7).to_string(), "0.0.0.0:7");
}

TEST(endpoint, refuses_what_is_no_endpoint) {
    for (auto const* text : {"",
                             ":80",
                             "127.0.0.1",
                             "127.0.0.1:",
                             "127.0.0.1:65536",
                             "127.0.0.1:-1",
                             "::1:80",
                             "[::1]",
                             "[127.0.0.1]:80",
                             "[::1:80",
                             "127.0.0.1:8x",
                             "127.0.0.1: 80",
                             "127.0.0.1:+80",
                             "127.0.0.1:80 ",
                             " 127.0.0.1:80",
                             "127.0.0.1:0x50",
                             "127.0.0.1:99999999999",
                             "127.0.0.1::80",
                             "[]:80",
                             "[:80",
                             "]:80",
                             "[::1]80",
                             "[::1]:",
                             "[::1]:65536",
                             "[[::1]]:80",
                             "[::1%]:80",
                             "::1",
                             "1.2.3:80",
                             "localhost:80",
                             ":",
                             "::",
                             "[::1]:80:80"})
        EXPECT_FALSE(ps::endpoint::parse(text).has_value()) << text;
}

} // namespace
