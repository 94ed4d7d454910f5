// What a client makes of the bytes that a server answers, whole and cut at every position.
#include <pitsaw/http/client.hpp>

#include <pitsaw/pitsaw.hpp>
#include <pitsaw/sim/world.hpp>

#include "http_visit.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace ps = pitsaw;
namespace http = pitsaw::http;
using namespace std::chrono_literals;
using namespace std::string_literals;
using ps::testing::bytes_of;
using ps::testing::fetch;

namespace {

using result = ps::task<ps::io_result<void>>;
using text_result = ps::task<ps::io_result<std::string>>;

struct script {
    std::string answer;
    std::size_t cut = 0; // the second part comes later
    bool closes = false; // after it
};

/// Says the same to the first bytes of each connection.
result scripted(ps::tcp_listener& listener, script const& says) {
    std::string_view const answer = says.answer;
    for (;;) {
        auto peer = co_await ps::or_return(listener.accept());
        auto const asked = co_await ps::or_return(peer.receive());
        if (asked.empty()) continue;
        co_await ps::or_return(peer.send_all(bytes_of(answer.substr(0, says.cut))));
        co_await ps::sleep(1ms);
        co_await ps::or_return(peer.send_all(bytes_of(answer.substr(says.cut))));
        if (!says.closes) co_await ps::or_return(peer.closed());
    }
}

text_result ask(script const& says, http::method how) {
    auto listener = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::loopback(0)));
    auto const at = co_await ps::or_return(listener.local_endpoint());
    http::client_options limits;
    limits.header_bytes_max = 500;
    limits.headers_max = 5;
    limits.body_bytes_max = 1 << 20;
    http::client client(limits);
    auto const one = [&]() -> text_result {
        auto text = co_await ps::or_return(ps::with_timeout(1s, fetch(client, at, how, "/")));
        co_return ps::io_result<std::string>(text + (client.idle() == 0 ? " closed" : " kept"));
    };
    auto done = co_await ps::when_any(scripted(listener, says), one());
    if (auto& text = std::get<1>(done)) co_return std::move(*text);
    co_return ps::io_result<std::string>("the server failed"s);
}

/// Status, body and whether the connection was kept; or the error.
std::string outcome_of(script const& says, http::method how = http::method::get) {
    ps::sim::world world({.is_calm = true});
    auto const end = world.run(ask(says, how));
    EXPECT_EQ(world.imbalance(), "");
    if (!end.has_value()) return "stopped";
    return end.value().has_value() ? *end.value() : end.value().error().message();
}

std::string message_of(std::errc const what) { return std::make_error_code(what).message(); }

struct input {
    char const* id;
    std::string answer;
    std::string wanted;
    http::method how = http::method::get;
    bool closes = false;
};

std::string const ok = "HTTP/1.1 200 OK\r\n";
std::string const chunked = ok + "Transfer-Encoding: chunked\r\n\r\n";

std::vector<input> inputs() {
    auto const bad = message_of(std::errc::bad_message);
    auto const large = message_of(std::errc::message_size);
    auto const cut_off = message_of(std::errc::connection_aborted);
    return {
        {"HT10", ok + "Content-Length: 1234\r\n\r\n", "200  kept", http::method::head},
        {"HT10", "HTTP/1.1 304 Not Modified\r\nContent-Length: 1234\r\n\r\n", "304  kept"},
        {"HT10", "HTTP/1.1 204 No Content\r\n\r\n", "204  kept"},
        {"plain", ok + "Content-Length: 2\r\n\r\nhi", "200 hi kept"},
        {"plain", ok + "Content-Length: 0\r\n\r\n", "200  kept"},
        {"plain", ok + "Content-Length: 2\r\nConnection: close\r\n\r\nhi", "200 hi closed"},
        {"plain", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", "200 hi closed"},
        {"plain", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nhi", "200 hi kept"},
        {"plain", ok + "\r\nall of it", "200 all of it closed", http::method::get, true},
        {"reason", "HTTP/1.1 200 " + std::string(100, 'k') + "\r\nContent-Length: 0\r\n\r\n", "200  kept"},
        {"chunks", chunked + "1\r\nh\r\n1\r\ni\r\n0\r\nA: b\r\n\r\n", "200 hi kept"},
        {"interim",
         "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n" + ok +
             "Content-Length: 2\r\n\r\nhi",
         "200 hi kept"},
        {"unasked", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n", bad},
        {"LG11", ok + "Content-Length: 5\r\n\r\nhi", cut_off, http::method::get, true},
        {"LG11", chunked + "2\r\nhi\r\n", cut_off, http::method::get, true},
        {"HT1", "HTTP/1.1 200 OK\nContent-Length: 2\r\n\r\nhi", bad},
        {"HT3", ok + "Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nX", bad},
        {"HT3", ok + "Transfer-Encoding: chunked\r\nContent-Length: 6\r\n\r\n0\r\n\r\nX", bad},
        {"HT4", ok + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", bad},
        {"HT6", chunked + "ffffffffffffffff\r\nhello", bad},
        {"HT6", chunked + "100000005\r\nhello", large},
        {"HT7", chunked + "0x5\r\nhello\r\n0\r\n\r\n", bad},
        {"HT9", chunked + "5\r\nhelloXX0\r\n\r\n", bad},
        {"HT19", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", bad},
        {"limits", ok + "X: " + std::string(500, 'x'), large},
        {"limits", ok + "A: 1\r\nB: 1\r\nC: 1\r\nD: 1\r\nE: 1\r\nF: 1\r\n\r\n", large},
        {"nothing", "", message_of(std::errc::connection_reset), http::method::get, true},
    };
}

TEST(client, gives_the_same_answer_wherever_its_bytes_are_cut) { // HT1 HT3 HT4 HT6 HT7 HT9 HT10 HT19 LG11
    for (auto const& one : inputs()) {
        for (std::size_t cut = 0; cut <= one.answer.size(); ++cut) {
            script const says{one.answer, cut, one.closes};
            EXPECT_EQ(outcome_of(says, one.how), one.wanted) << one.id << " at " << cut << ": " << one.answer;
        }
    }
}

TEST(client, does_not_keep_a_connection_that_brought_more_than_the_answer) { // HT13
    EXPECT_EQ(outcome_of({ok + "Content-Length: 2\r\n\r\nhiHTTP/1.1 200 OK\r\n"}), "200 hi closed");
}

TEST(client, refuses_a_request_that_would_be_two) {
    EXPECT_THROW(http::client_request(http::method::get, "a", "/ HTTP/1.1\r\nX: y"), std::invalid_argument);
    EXPECT_THROW(http::client_request(http::method::get, "a\r\nX: y", "/"), std::invalid_argument);
    EXPECT_THROW(http::client_request(http::method::get, "", "/"), std::invalid_argument);
    EXPECT_THROW(http::client_request(http::method::get, "a", ""), std::invalid_argument);
    EXPECT_THROW(http::client_request(http::method::other, "a", "/"), std::invalid_argument);
}

} // namespace
