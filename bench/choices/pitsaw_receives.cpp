// pitsaw_receives FORM PORT: an echo server of operations and their events alone, without a coroutine.
// FORM: `multishot`: one operation gives a connection's receives; `once`: one a receive, submitted again as
// soon as the last has ended; `once_answered`: when the answer has gone, as a task does that receives, sends
// and receives.
#include <pitsaw/executor/runtime.hpp>
#include <pitsaw/io/buffer.hpp>
#include <pitsaw/io/buffer_pool.hpp>
#include <pitsaw/io/driver.hpp>
#include <pitsaw/net/endpoint.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

namespace ps = pitsaw;

namespace {

enum class form { multishot, once, once_answered };

struct server;

/// One message on its way back, in the buffer it came in.
struct answer : ps::operation {
    explicit answer(server& in) noexcept : of(in) {}
    server& of;
    struct connection* from = nullptr;
    std::uint16_t buffer = 0;
};

struct connection : ps::operation { // its receive
    connection(server& in, ps::descriptor on) noexcept;
    server& of;
    std::uint32_t answers = 0; // on their way
    bool is_over = false;
};

struct server {
    ps::driver& driver;
    form how;
    std::unique_ptr<ps::buffer_pool> pool = ps::buffer_pool::make(driver, 1024, 4096);
    std::vector<answer*> idle = {};
    std::unique_ptr<ps::operation> accepting = {};
};

server* the_server = nullptr; // what accepts work for

void end_when_alone(connection& which) noexcept {
    if (!which.is_over || which.answers != 0) return;
    which.of.driver.discard(which.target);
    delete &which;
}

void on_sent(ps::operation& op, ps::event const& done) noexcept {
    auto& sent = static_cast<answer&>(op);
    auto& in = sent.of;
    auto& from = *sent.from;
    in.pool->give_back(sent.buffer);
    in.idle.push_back(&sent);
    --from.answers;
    auto const is_whole = done.result == static_cast<std::int32_t>(op.length); // 64 bytes always fit
    if (is_whole && in.how == form::once_answered && !from.is_over) return in.driver.submit(from);
    if (!is_whole && from.state != 0) in.driver.cancel(from);
    end_when_alone(from);
}

void answer_with(connection& from, ps::event const& received) noexcept {
    auto& in = from.of;
    if (in.idle.empty()) in.idle.push_back(new answer(in));
    auto& reply = *in.idle.back();
    in.idle.pop_back();
    reply.code = ps::op_code::send;
    reply.on_event = on_sent;
    reply.target = from.target;
    reply.from = &from;
    reply.buffer = received.buffer;
    ps::set_source(reply,
                   in.pool->bytes_of(received.buffer).first(static_cast<std::size_t>(received.result)));
    ++from.answers;
    in.driver.submit(reply);
}

void on_received(ps::operation& op, ps::event const& done) noexcept {
    auto& from = static_cast<connection&>(op);
    if (done.result > 0) {
        answer_with(from, done);
        // A multishot receive may end by itself, and is then asked for anew.
        if (done.is_final() && from.of.how != form::once_answered) from.of.driver.submit(from);
        return;
    }
    if (!done.is_final()) return;
    from.is_over = true;
    end_when_alone(from);
}

connection::connection(server& in, ps::descriptor const on) noexcept
    : operation(ps::op_code::receive, on, on_received), of(in) {
    options = ps::op_option::pooled;
    if (in.how == form::multishot) options = options | ps::op_option::multishot;
    pool = in.pool->number();
}

void on_accepted(ps::operation& op, ps::event const& done) noexcept {
    auto& in = *the_server;
    if (done.result >= 0) {
        if (auto const made = in.driver.attach(ps::native_handle(done.result))) {
            ps::socket_command no_delay{
                .what = ps::socket_command::set_option, .option = ps::socket_option::no_delay, .value = 1};
            (void)in.driver.control(*made, no_delay);
            in.driver.submit(*new connection(in, *made));
        }
    }
    if (done.is_final()) in.driver.submit(op);
}

bool listen(server& in, std::uint16_t const port) noexcept {
    auto const opened = in.driver.open_stream(ps::address_family::ipv4);
    if (!opened) return false;
    ps::socket_command bind{.what = ps::socket_command::bind,
                            .address = ps::endpoint::loopback(port).as_socket_address()};
    ps::socket_command listen{.what = ps::socket_command::listen, .value = 1024};
    if (!in.driver.control(*opened, bind) || !in.driver.control(*opened, listen)) return false;
    in.accepting = std::make_unique<ps::operation>(ps::op_code::accept, *opened, on_accepted);
    in.accepting->options = ps::op_option::multishot;
    in.driver.submit(*in.accepting);
    return true;
}

} // namespace

int main(int const count, char** const arguments) {
    if (count != 3) return 2;
    std::string_view const name = arguments[1];
    auto const how = name == "multishot" ? form::multishot
                     : name == "once"    ? form::once
                                         : form::once_answered;
    ps::runtime const lender; // of its driver; it runs nothing itself
    auto& driver = *lender.get_executor()->io;
    server in{.driver = driver, .how = how};
    if (in.pool == nullptr) return 1;
    the_server = &in;
    if (!listen(in, static_cast<std::uint16_t>(std::atoi(arguments[2])))) return 1;
    for (std::array<ps::event, 64> out;;) { // until it is killed
        auto const events = driver.poll(out, ps::never);
        for (auto const& each : std::span(out).first(events)) each.op->on_event(*each.op, each);
    }
}
