#include "faults/scenario.hpp"

#include "driver/law_loop.hpp"
#include "driver/posix_subject.hpp"
#include "faults/fault_plan.hpp"
#include "faults/faulty_driver.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <set>
#include <thread>

namespace pitsaw::faults {
namespace {

using laws::law_loop;
using laws::tracked;

constexpr std::uint32_t buffer_bytes = 16;

auto is_the_faults(std::error_code error) -> bool {
    // connect(2): EAGAIN is a lack of entries in a table of the kernel, and law 6 lets no EAGAIN out.
    auto const reported =
        armed().where == place::connect && armed().error == EAGAIN ? ENOBUFS : armed().error;
    return has_struck() && error == std::error_code(reported, std::generic_category());
}

class life {
  public:
    explicit life(laws::posix_subject& subject) : loop_(subject), io_(subject.io()) {}

    void run() {
        lend();
        listen();
        for (int tries = 0; tries < 3 && !served_; ++tries) connect();
        if (!served_) return loop_.found("no connection, however often it was tried");
        watch();
        transfer();
        cancel();
        wake();
        finish();
        if (auto const rest = loop_.in_flight(); rest != 0 && !loop_.end_all())
            loop_.found(laws::text(rest, " operations have no final event"));
        close_all();
        drain();
    }
    [[nodiscard]] auto finding() const -> std::string const& { return loop_.finding(); }

  private:
    /// A call that is made once more if the fault struck it.
    template <class Call> auto tried(char const* what, Call call) {
        auto result = call();
        if (!result && is_the_faults(result.error())) result = call();
        if (!result) loop_.found(laws::text(what, " failed twice: ", result.error().message()));
        return result;
    }

    /// Whether the operation, which has ended, did what it should; false if the fault struck it.
    auto has_succeeded(tracked const& op) -> bool {
        if (op.result() >= 0) return true;
        if (!is_the_faults(to_error(op.result())))
            loop_.found(laws::text("a ", name(op.code), " ended with ", to_error(op.result()).message()));
        return false;
    }
    auto wait_for(tracked& op) -> bool {
        if (op.ended() && op.submitted != 0) return true;
        if (loop_.run_until([&] { return op.ended() || !loop_.finding().empty(); }) && op.ended())
            return true;
        loop_.found(laws::text("a ", name(op.code), " has no final event"));
        return false;
    }
    /// Does what `make` makes, once more if the fault strikes it; null: it found something.
    template <class Make> auto done(Make make) -> tracked* {
        for (int tries = 0; tries < 2; ++tries) {
            tracked& op = make();
            if (!loop_.attempt(op)) {
                loop_.submit(op);
                if (!wait_for(op)) return nullptr;
            }
            if (has_succeeded(op)) return &op;
        }
        loop_.found("an operation failed twice");
        return nullptr;
    }

    void lend() {
        if (auto const lent = tried("lend", [&] { return io_.lend(memory_, buffer_bytes); })) pool_ = *lent;
        loop_.before_run = [this](std::span<event const> events) {
            for (auto const& each : events)
                if (has(each.flags, event_flag::pooled)) {
                    if (!held_.insert(each.buffer).second) loop_.found("a buffer is in two events");
                    take(std::span(memory_).subspan(std::size_t{each.buffer} * buffer_bytes,
                                                    static_cast<std::size_t>(each.result)));
                }
        };
    }
    void give_all_back() {
        for (auto const each : std::exchange(held_, {})) io_.give_back(pool_, each);
    }
    void take(std::span<std::byte const> bytes) {
        if (!laws::follows_pattern(bytes, received_)) loop_.found("bytes were lost, doubled or moved");
        received_ += bytes.size();
    }

    void listen() {
        auto const made = tried("open_stream", [&] { return io_.open_stream(address_family::ipv4); });
        if (!made) return;
        listener_ = *made;
        socket_command bind{
            .what = socket_command::bind,
            .address = {.family = address_family::ipv4, .bytes = {std::byte{127}, {}, {}, std::byte{1}}}};
        socket_command listen{.what = socket_command::listen, .value = 8};
        socket_command tell{.what = socket_command::local_address};
        for (auto* const each : {&bind, &listen, &tell})
            (void)tried("a command", [&] { return io_.control(listener_, *each); });
        auto const bytes = std::bit_cast<std::array<std::byte, sizeof tell.address>>(tell.address);
        address_.assign(bytes.begin(), bytes.end());
    }

    void connect() {
        auto const opened = tried("open_stream", [&] { return io_.open_stream(address_family::ipv4); });
        if (!opened) return;
        client_ = *opened;
        auto* accepting = &loop_.make(op_code::accept, listener_);
        accepting->options = op_option::multishot;
        loop_.submit(*accepting);
        if (done([&]() -> tracked& { return loop_.make_connect(client_, address_); }) == nullptr) return;
        auto const handle_or_end = [&] {
            return std::ranges::any_of(accepting->results, [](auto result) { return result >= 0; }) ||
                   accepting->ended();
        };
        for (int tries = 0; tries < 2; ++tries) {
            if (!loop_.run_until(handle_or_end)) return loop_.found("an accept has no event");
            if (accepting->result() >= 0) break;
            (void)has_succeeded(*accepting);
            accepting = &loop_.make(op_code::accept, listener_);
            loop_.submit(*accepting);
        }
        if (!accepting->ended()) loop_.cancel(*accepting);
        if (!wait_for(*accepting)) return;
        for (auto const handle : accepting->results) {
            if (handle < 0) continue;
            auto const attached = io_.attach(native_handle(handle));
            if (attached)
                served_ = *attached;
            else if (is_the_faults(attached.error()))
                io_.discard(client_); // the handle is closed
            else
                loop_.found("an accepted handle cannot be attached");
        }
    }

    void watch() {
        watch_ = &loop_.make(op_code::watch, client_);
        loop_.submit(*watch_);
        broken_ = &loop_.make(op_code::watch, client_);
        broken_->options = op_option::broken;
        loop_.submit(*broken_);
        loop_.turn(io_.now());
    }

    void send(std::size_t count, bool is_vectored) {
        while (count != 0 && loop_.finding().empty()) {
            std::array<source_span, 2> pieces;
            auto const* const sent = done([&]() -> tracked& {
                auto& op = loop_.make_send(served_, laws::pattern(sent_, count));
                if (is_vectored) {
                    pieces = {source_span{op.bytes.data(), 1}, source_span{op.bytes.data() + 1, count - 1}};
                    set_pieces(op, pieces);
                }
                return op;
            });
            if (sent == nullptr) return;
            sent_ += static_cast<std::size_t>(sent->result());
            count -= static_cast<std::size_t>(sent->result());
        }
    }
    void receive(std::size_t count) {
        auto const* const got = done([&]() -> tracked& { return loop_.make_receive(client_, count); });
        if (got != nullptr) take(std::span(got->bytes).first(static_cast<std::size_t>(got->result())));
    }
    auto make_pooled(op_option more) -> tracked& {
        auto& op = loop_.make(op_code::receive, client_);
        op.options = op_option::pooled | more;
        op.pool = pool_;
        return op;
    }

    void transfer() {
        auto& early = loop_.make_receive(client_, 20); // waits before there is something
        loop_.submit(early);
        loop_.turn(io_.now());
        send(100, false);
        if (wait_for(early) && has_succeeded(early))
            take(std::span(early.bytes).first(static_cast<std::size_t>(early.result())));
        send(100, true);
        receive(30);
        auto& pooled = make_pooled(op_option::none);
        loop_.submit(pooled);
        if (!wait_for(pooled)) return;
        if (has_succeeded(pooled)) give_all_back();
        auto* all = &make_pooled(op_option::multishot);
        loop_.submit(*all);
        auto const is_empty = [](tracked const& op) {
            return op.result() < 0 && to_error(op.result()) == std::errc::no_buffer_space;
        };
        for (int more = 0; more < 8; ++more) { // into an empty pool as well
            if (more == 4) send(100, false);
            if (!loop_.run_until([&] { return all->ended() || received_ == sent_; }))
                return loop_.found("a multishot receive has no event");
            if (!all->ended()) continue;
            if (!is_empty(*all)) (void)has_succeeded(*all);
            give_all_back();
            all = &make_pooled(op_option::multishot);
            loop_.submit(*all);
        }
        (void)loop_.run_until([&] {
            give_all_back();
            return all->ended() || received_ == sent_;
        });
        loop_.cancel(*all);
        if (wait_for(*all) && !all->was_cancelled() && !is_empty(*all)) (void)has_succeeded(*all);
        give_all_back();
        while (received_ < sent_ && loop_.finding().empty()) receive(sent_ - received_);
    }

    void cancel() {
        auto& waiting = loop_.make_receive(client_, 8);
        auto& behind = loop_.make_receive(client_, 8);
        loop_.submit(waiting);
        loop_.submit(behind);
        loop_.turn(io_.now());
        loop_.cancel(behind);
        loop_.cancel(waiting);
        for (auto* const each : {&waiting, &behind})
            if (wait_for(*each) && !each->was_cancelled()) (void)has_succeeded(*each);
    }

    /// Waits without a limit: whoever loses a wake is stopped by the time limit of the test.
    void wake() {
        for (int i = 0;
             i < 3 && loop_.in_flight() == (watch_->ended() ? 0 : 1) + (broken_->ended() ? 0U : 1U); ++i) {
            std::atomic<bool> is_polling = false;
            std::thread waker([&] {
                is_polling.wait(false);
                std::this_thread::sleep_for(std::chrono::microseconds(200)); // so that it most often sleeps
                io_.wake();
            });
            is_polling = true;
            is_polling.notify_one();
            std::array<event, 4> out;
            auto const count = io_.poll(out, never);
            for (auto const& each : std::span(out).first(count)) each.op->on_event(*each.op, each);
            waker.join();
            if (count != 0)
                (void)io_.poll(out, io_.now()); // a watch that the fault struck; the wake is due still
        }
    }

    void finish() {
        (void)done([&]() -> tracked& { return loop_.make(op_code::shutdown, served_); });
        if (wait_for(*watch_) && !has_succeeded(*watch_))
            (void)done([&]() -> tracked& { return loop_.make(op_code::watch, client_); });
        auto const* const end = done([&]() -> tracked& { return loop_.make_receive(client_, 8); });
        if (end != nullptr && end->result() != 0) loop_.found("there are bytes behind the end of the stream");
        loop_.turn(io_.now());
        if (broken_->ended() && !broken_->was_cancelled()) (void)has_succeeded(*broken_);
    }

    void close_all() {
        loop_.submit(loop_.make_receive(served_, 8));
        auto& accepting = loop_.make(op_code::accept, listener_);
        accepting.options = op_option::multishot;
        loop_.submit(accepting);
        loop_.turn(io_.now());
        auto& close = loop_.make(op_code::close, client_);
        loop_.submit(close);
        if (wait_for(close) && close.result() != 0) loop_.found("a close failed");
        io_.discard(served_);
        io_.discard(listener_);
    }

    void drain() {
        std::array<event, 4> out;
        auto const deadline = saturating_add(io_.now(), law_loop::patience);
        for (std::size_t remaining = 1; remaining != 0;) {
            auto const progress = io_.drain(out, deadline);
            for (auto const& each : std::span(out).first(progress.events)) each.op->on_event(*each.op, each);
            remaining = progress.remaining;
            if (io_.now() >= deadline) return loop_.found(laws::text("drain leaves ", remaining));
        }
        if (loop_.in_flight() != 0) loop_.found("drain says that nothing is left, and something is");
    }

    law_loop loop_;
    driver& io_;
    std::array<std::byte, 4 * buffer_bytes> memory_ = {};
    std::uint16_t pool_ = 0;
    std::set<std::uint16_t> held_;
    descriptor listener_, client_, served_;
    std::vector<std::byte> address_;
    tracked* watch_ = nullptr;
    tracked* broken_ = nullptr;
    std::size_t sent_ = 0;
    std::size_t received_ = 0;
};

} // namespace

auto run_scenario(driver_maker const& make) -> std::string {
    auto made = [&] {
        inside const it;
        return make();
    }();
    if (!made) return is_the_faults(made.error()) ? "" : "no driver: " + made.error().message();
    laws::posix_subject subject(std::make_unique<faulty_driver>(std::move(*made)), {});
    life one(subject);
    one.run();
    return one.finding();
}

} // namespace pitsaw::faults
