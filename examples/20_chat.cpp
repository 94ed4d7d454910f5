// A chat server with three clients. Whatever a member says goes to all others; one who does not read holds up
// nobody.
#include <pitsaw/pitsaw.hpp>

#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ps = pitsaw;
using io_task = ps::task<ps::io_result<void>>;

struct member {
    explicit member(ps::tcp_stream of) : stream(std::move(of)) {}
    ps::tcp_stream stream;
    std::string name{};
    std::string outbox{};
    bool is_sending = false;
};

// One task sends what a member's outbox holds, and what is added meanwhile.
io_task flush(std::shared_ptr<member> to) {
    while (!to->outbox.empty()) {
        std::string const lines = std::exchange(to->outbox, "");
        auto const sent = co_await to->stream.send_all(std::as_bytes(std::span(lines)));
        if (!sent.has_value()) break; // it has gone: its session hears of it too
    }
    to->is_sending = false;
    co_return {};
}

struct room {
    static constexpr std::size_t outbox_max = 65536; // bytes; who reads more slowly misses lines

    explicit room(ps::task_group& runs) : tasks(runs) {}
    ps::task_group& tasks;
    std::vector<std::shared_ptr<member>> members{};

    void tell(std::shared_ptr<member> const& one, std::string const& line) const {
        if (one->outbox.size() > outbox_max) return;
        one->outbox += line + "\n";
        if (!std::exchange(one->is_sending, true)) tasks.spawn(flush(one));
    }
    void tell_others(std::shared_ptr<member> const& from, std::string const& line) const {
        for (auto const& one : members)
            if (one != from) tell(one, line);
    }
};

io_task session(ps::tcp_stream peer, room& in) {
    auto const self = std::make_shared<member>(std::move(peer));
    ps::buffered_reader reader{self->stream};
    self->name = co_await ps::or_return(reader.read_line(40));
    in.tell_others(self, "* " + self->name + " is here");
    in.members.push_back(self);
    in.tell(self, "* welcome, " + self->name);
    for (;;) {
        auto const line = co_await reader.read_line();
        if (!line.has_value()) break; // the end, or a broken connection
        in.tell_others(self, self->name + ": " + std::string(*line));
    }
    std::erase(in.members, self);
    in.tell_others(self, "* " + self->name + " has left");
    co_return {};
}

io_task serve(ps::tcp_listener& listener) {
    std::unique_ptr<room> lobby; // outside of the group: its sessions refer to it
    co_return co_await ps::task_group::run(
        ps::on_failure::keep_others, [&](ps::task_group& tasks) -> io_task {
            lobby = std::make_unique<room>(tasks);
            for (;;) tasks.spawn(session(co_await ps::or_return(listener.accept()), *lobby));
        });
}

struct client {
    client(ps::tcp_stream connected, std::string_view called) : stream(std::move(connected)), name(called) {}
    ps::tcp_stream stream;
    std::string name;
    ps::buffered_reader<ps::tcp_stream> reader{stream};
};

io_task say(client& who, std::string_view text) {
    std::string const line = std::string(text) + "\n";
    co_return co_await who.stream.send_all(std::as_bytes(std::span(line)));
}

io_task hear(client& who) {
    auto const line = co_await ps::or_return(who.reader.read_line());
    std::printf("%-4s hears  %.*s\n", who.name.c_str(), static_cast<int>(line.size()), line.data());
    co_return {};
}

io_task enter(client& who) {
    co_await ps::or_return(say(who, who.name));
    co_return co_await hear(who); // the welcome
}

io_task conversation(ps::endpoint at) {
    client ada(co_await ps::or_return(ps::tcp_stream::connect(at)), "Ada");
    co_await ps::or_return(enter(ada));
    client bob(co_await ps::or_return(ps::tcp_stream::connect(at)), "Bob");
    co_await ps::or_return(enter(bob));
    co_await ps::or_return(hear(ada));
    client cy(co_await ps::or_return(ps::tcp_stream::connect(at)), "Cy");
    co_await ps::or_return(enter(cy));
    co_await ps::or_return(hear(ada));
    co_await ps::or_return(hear(bob));

    co_await ps::or_return(say(ada, "Who saws from below?"));
    co_await ps::or_return(hear(bob));
    co_await ps::or_return(hear(cy));
    co_await ps::or_return(say(bob, "Not me again."));
    co_await ps::or_return(hear(ada));
    co_await ps::or_return(hear(cy));
    co_await ps::or_return(cy.stream.async_close());
    co_await ps::or_return(hear(ada));
    co_return co_await hear(bob);
}

io_task work() {
    auto listener = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::loopback(0)));
    auto const at = co_await ps::or_return(listener.local_endpoint());
    auto first = co_await ps::when_any(serve(listener), conversation(at)); // then the server is stopped
    if (auto& served = std::get<0>(first)) co_return *served;
    co_return *std::get<1>(first);
}

int main() { return ps::run(work()); }

// prints:
// Ada  hears  * welcome, Ada
// Bob  hears  * welcome, Bob
// Ada  hears  * Bob is here
// Cy   hears  * welcome, Cy
// Ada  hears  * Cy is here
// Bob  hears  * Cy is here
// Bob  hears  Ada: Who saws from below?
// Cy   hears  Ada: Who saws from below?
// Ada  hears  Bob: Not me again.
// Cy   hears  Bob: Not me again.
// Ada  hears  * Cy has left
// Bob  hears  * Cy has left
