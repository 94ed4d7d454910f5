// Server-sent events, cut at every position, and what is written so that it reads the same.
#include <pitsaw/http/event_stream.hpp>

#include <pitsaw/pitsaw.hpp>
#include <pitsaw/sim/world.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ps = pitsaw;
namespace http = pitsaw::http;
using namespace std::string_literals;
using namespace std::string_view_literals;

namespace {

std::vector<std::string> data_of(std::string_view const input, std::size_t const cut) {
    http::event_parser parser;
    std::vector<std::string> all;
    for (auto part : {input.substr(0, cut), input.substr(cut)})
        while (auto const event = parser.next(part)) all.push_back(event->data);
    if (auto const last = parser.finish()) all.push_back(last->data);
    return all;
}

TEST(event_parser, knows_each_line_end_wherever_the_bytes_are_cut) { // LG3
    std::string const input = "\xef\xbb\xbf"
                              "data: a\r\n\r\ndata:b\r\rdata: c\n\n: ping\n\nevent: x\ndata: 1\ndata: 2\n\n"
                              "data: [DONE]";
    std::vector<std::string> const wanted{"a", "b", "c", "1\n2", "[DONE]"};
    for (std::size_t cut = 0; cut <= input.size(); ++cut) EXPECT_EQ(data_of(input, cut), wanted) << cut;
}

TEST(event_parser, gives_types_ids_and_the_time_to_wait) {
    http::event_parser parser;
    std::string_view input =
        "id: 7\nevent: tick\ndata\nretry: 250\n\nid: a\0b\nretry: 1x\nevent: lost\n\ndata:  x\n\n"sv;
    auto const first = parser.next(input);
    ASSERT_TRUE(first.has_value());
    EXPECT_EQ(first->type, "tick");
    EXPECT_EQ(first->id, "7");
    EXPECT_EQ(first->data, "");
    auto const second = parser.next(input);
    ASSERT_TRUE(second.has_value());
    EXPECT_EQ(second->type, "");
    EXPECT_EQ(second->id, "7");
    EXPECT_EQ(second->data, " x");
    EXPECT_EQ(parser.retry_ms(), 250u);
    EXPECT_FALSE(parser.next(input).has_value());
}

TEST(event_parser, bounds_a_line_and_an_event) { // LG4
    auto const is_refused = [](std::string const& text) {
        http::event_parser parser(1000);
        for (char const& one : text) {
            std::string_view byte(&one, 1);
            if (parser.next(byte).has_value()) return false;
        }
        return parser.is_too_long();
    };
    EXPECT_TRUE(is_refused("data: " + std::string(1000, 'x')));
    std::string lines;
    for (int i = 0; i < 30; ++i) lines += "data: " + std::string(40, 'x') + "\n";
    EXPECT_TRUE(is_refused(lines));
    EXPECT_FALSE(is_refused("data: " + std::string(900, 'x') + "\n\n"));
}

struct text_writer final : http::body_writer {
    std::string text{};
    using http::body_writer::write;
    ps::task<ps::io_result<void>> write(std::span<std::byte const> piece) override {
        text.append(reinterpret_cast<char const*>(piece.data()), piece.size());
        co_return {};
    }
};

ps::task<std::string> beaten() {
    text_writer out;
    http::event_writer events(out);
    auto const done = co_await events.heartbeat();
    co_return done.has_value() ? out.text : "refused";
}
ps::task<std::string> written(http::server_event event) {
    text_writer out;
    http::event_writer events(out);
    auto const done = co_await events.write(std::move(event));
    co_return done.has_value() ? out.text : "refused";
}

std::string text_of(http::server_event event) {
    ps::sim::world world;
    return world.run(written(std::move(event))).value();
}

TEST(event_writer, writes_what_a_parser_reads_back) {
    EXPECT_EQ(text_of(http::server_event("hello")), "data: hello\n\n");
    EXPECT_EQ(text_of(http::server_event("a\nb\r\nc\rd")), "data: a\ndata: b\ndata: c\ndata: d\n\n");
    EXPECT_EQ(text_of(http::server_event("")), "data: \n\n");
    EXPECT_EQ(ps::sim::world().run(beaten()).value(), ":\n\n"); // a comment, and no event
    http::server_event named("x");
    named.type = "tick";
    named.id = "7";
    EXPECT_EQ(text_of(named), "event: tick\nid: 7\ndata: x\n\n");
    named.id = "7\ndata: y";
    EXPECT_EQ(text_of(named), "refused");
}

} // namespace
