// Chunked bodies, whole and cut at every position.
#include "http/chunked_decoder.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace http = pitsaw::http;
using step = http::chunked_decoder::step;

namespace {

/// The body and how it ended, with the bytes after it.
struct decoded {
    step end = step::need_more;
    std::string body{};
    std::string rest{};
};

decoded decode(std::string_view const input, std::size_t const cut) {
    http::chunked_decoder decoder;
    decoded all;
    for (auto part : {input.substr(0, cut), input.substr(cut)}) {
        for (;;) {
            std::string_view data;
            all.end = decoder.next(part, data);
            if (all.end != step::data) break;
            all.body += data;
        }
        all.rest += part;
    }
    return all;
}

struct input {
    char const* id;
    std::string bytes;
    step wanted;
};

std::vector<input> inputs() {
    std::string const end = "\r\nhello\r\n0\r\n\r\n";
    return {
        {"HT6", "100000005\r\nhello", step::need_more}, // huge; who reads has a limit
        {"HT6", "80000000\r\nhello", step::need_more},
        {"HT6", "ffffffffffffffff\r\nhello", step::bad},
        {"HT6", "fffffffffffffffff\r\nhello", step::bad},
        {"HT6", "10000000000000000\r\nhello", step::bad},
        {"HT7", "0x5" + end, step::bad},
        {"HT7", "0_0" + end, step::bad},
        {"HT7", "5x" + end, step::bad},
        {"HT7", " 5" + end, step::bad},
        {"HT7", "-0x0" + end, step::bad},
        {"HT7", "5 ;ext" + end, step::bad},
        {"HT7", "00000000000000005" + end, step::bad},
        {"HT7", "0000000000000005" + end, step::done},
        {"HT7", "5;ext=1" + end, step::done},
        {"HT7", "5;ext=\"a b\"" + end, step::done},
        {"HT7", "5;a\x01" + end, step::bad},
        {"HT7", "5\nhello\r\n0\r\n\r\n", step::bad},
        {"HT7", "\r\nhello\r\n0\r\n\r\n", step::bad},
        {"HT9", "5\r\nhello0\r\n\r\n", step::bad},
        {"HT9", "5\r\nhelloXX0\r\n\r\n", step::bad},
        {"HT9", "5\r\nhello\n0\r\n\r\n", step::bad},
        {"trailers", "5\r\nhello\r\n0\r\nA: b\r\nC:\r\n\r\n", step::done},
        {"trailers", "5\r\nhello\r\n0\r\nA b\r\n\r\n", step::bad},
        {"trailers", "5\r\nhello\r\n0\r\n A: b\r\n\r\n", step::bad},
        {"trailers", "5\r\nhello\r\n0\r\nA: b\n\r\n", step::bad},
        {"cases", "5" + end, step::done},
        {"cases", "2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n", step::done},
    };
}

TEST(chunked_decoder, gives_the_same_verdict_wherever_the_bytes_are_cut) { // HT6 HT7 HT9
    for (auto const& one : inputs()) {
        for (std::size_t cut = 0; cut <= one.bytes.size(); ++cut) {
            auto const all = decode(one.bytes, cut);
            EXPECT_EQ(all.end, one.wanted) << one.id << " at " << cut << ": " << one.bytes;
            if (one.wanted != step::done) continue;
            EXPECT_EQ(all.body, "hello");
            EXPECT_EQ(all.rest, "");
        }
    }
}

TEST(chunked_decoder, leaves_what_follows_the_body) {
    for (std::size_t cut = 0; cut <= 16; ++cut) {
        auto const all = decode("5\r\nhello\r\n0\r\n\r\nGET ", cut);
        EXPECT_EQ(all.end, step::done);
        EXPECT_EQ(all.rest, "GET ");
    }
}

TEST(chunked_decoder, bounds_extensions_and_trailers_of_a_message) {
    EXPECT_EQ(decode("5;" + std::string(20000, 'x'), 1).end, step::bad);
    EXPECT_EQ(decode("0\r\nA: " + std::string(20000, 'x'), 1).end, step::bad);
    std::string many;
    for (int i = 0; i < 5000; ++i) many += "1;abc\r\nx\r\n";
    EXPECT_EQ(decode(many + "0\r\n\r\n", 1).end, step::done);
    EXPECT_EQ(decode(many + many + "0\r\n\r\n", 1).end, step::bad);
}

} // namespace
