#include <pitsaw/net/address.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

namespace ps = pitsaw;

namespace {

TEST(address, prints_what_rfc_5952_recommends) {
    std::pair<char const*, char const*> const texts[] = {
        {"::", "::"},
        {"::1", "::1"},
        {"2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"},
        {"2001:0DB8::0001", "2001:db8::1"},
        {"2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"},
        {"1:0:0:2:0:0:0:3", "1:0:0:2::3"},
        {"1:2:3:4:5:6:0:0", "1:2:3:4:5:6::"},
        {"::ffff:192.0.2.1", "::ffff:192.0.2.1"},
        {"::ffff:c000:201", "::ffff:192.0.2.1"},
        {"fe80::1%2", "fe80::1%2"},
        {"192.0.2.1", "192.0.2.1"},
    };
    for (auto const& [text, printed] : texts) {
        auto const parsed = ps::address::parse(text);
        ASSERT_TRUE(parsed.has_value()) << text;
        EXPECT_EQ(parsed->to_string(), printed);
    }
}

TEST(address, refuses_what_is_no_address) {
    for (auto const* text : {"",
                             ":",
                             ":::",
                             "1::2::3",
                             "1:2:3:4:5:6:7",
                             "1:2:3:4:5:6:7:8:9",
                             "1:2:3:4:5:6:7::8",
                             "12345::",
                             "g::",
                             "1.2.3",
                             "1.2.3.4.5",
                             "1.2.3.256",
                             "01.2.3.4",
                             "1.2.3.",
                             "::1%",
                             "::1%x",
                             "1:",
                             ":1",
                             "::1.2.3.4:5",
                             " ::1",
                             "::1 ",
                             "1.2.3.4 ",
                             " 1.2.3.4",
                             "+1.2.3.4",
                             "-1.2.3.4",
                             "1.2.3.-4",
                             "0x1.2.3.4",
                             "1..2.3",
                             ".1.2.3",
                             "1.2.3.4.",
                             "1.2.3.1000",
                             "1.2.3.00",
                             "256.1.1.1",
                             "1.2",
                             "16909060",
                             "::ffff:1.2.3",
                             "::ffff:1.2.3.256",
                             "1.2.3.4::",
                             "::1.2.3.4.5",
                             "1:2:3:4:5:6:7:1.2.3.4",
                             "::-1",
                             "::+1",
                             "::0x1",
                             "::00001",
                             "1::2:",
                             ":1::2",
                             "::%",
                             "%1",
                             "1.2.3.4%1",
                             "::1%-1",
                             "::1%4294967296",
                             "::1%1%1",
                             "[::1]",
                             "::1/128",
                             "1.2.3.4/8",
                             "localhost",
                             "1:2:3:4:5:6:7:8::",
                             "::1:2:3:4:5:6:7:8",
                             "1:2:3:4::5:6:7:8"})
        EXPECT_FALSE(ps::address::parse(text).has_value()) << text;
}

TEST(address, is_what_its_text_is_and_nothing_before_or_behind_it) {
    std::string const text("1.2.3.4\0", 8);
    EXPECT_FALSE(ps::address::parse(text).has_value());
    EXPECT_TRUE(ps::address::parse(std::string_view(text).substr(0, 7)).has_value());
    EXPECT_EQ(ps::address::parse("::1.2.3.4")->to_string(), "::102:304");
    EXPECT_EQ(ps::address::parse("1::8")->to_string(), "1::8");
    EXPECT_EQ(ps::address::parse("::2:3:4:5:6:7:8")->to_string(),
              "0:2:3:4:5:6:7:8"); // one group may be left out
    EXPECT_EQ(ps::address::parse("fe80::1%4294967295")->to_string(), "fe80::1%4294967295");
    EXPECT_EQ(ps::address().to_string(), "none");
}

TEST(address, knows_the_loopback) {
    EXPECT_TRUE(ps::address::parse("127.8.0.1")->is_loopback());
    EXPECT_TRUE(ps::address::parse("::1")->is_loopback());
    EXPECT_FALSE(ps::address::parse("::2")->is_loopback());
}

} // namespace
