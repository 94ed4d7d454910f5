#include <pitsaw/http/server.hpp>

#include <pitsaw/scope/task_group.hpp>
#include <pitsaw/task/or_return.hpp>

#include "http/server_connection.hpp"

#include <array>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <utility>

namespace pitsaw::inline v0::http {

std::int64_t system_time() noexcept { return static_cast<std::int64_t>(std::time(nullptr)); }

std::string_view server_state::date(time_point const now) noexcept {
    if (options.clock == nullptr) return {};
    bool const is_old = date_at_ == never || now - date_at_ >= std::chrono::seconds(1) || now < date_at_;
    if (is_old) {
        using namespace std::chrono;
        static constexpr std::array days{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
        static constexpr std::array months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                           "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
        sys_seconds const at(seconds(options.clock()));
        auto const day = floor<std::chrono::days>(at);
        year_month_day const on(day);
        hh_mm_ss const time(at - day);
        auto const size =
            std::snprintf(date_, sizeof date_, "Date: %s, %02u %s %04d %02d:%02d:%02d GMT\r\n",
                          days[weekday(day).c_encoding()], static_cast<unsigned>(on.day()),
                          months[static_cast<unsigned>(on.month()) - 1], static_cast<int>(on.year()),
                          static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
                          static_cast<int>(time.seconds().count()));
        date_size_ = size > 0 && static_cast<std::size_t>(size) < sizeof date_ ? size : 0;
        date_at_ = now;
    }
    return {date_, date_size_};
}

namespace {

/// `Listener` is a reference, or goes with this frame: as soon as nobody is accepted any more.
template <class Listener>
task<io_result<void>> accept_clients(Listener listener, task_group& clients, server_state& state) {
    for (;;) {
        co_await clients.room();
        auto client = co_await or_return(listener.accept());
        clients.spawn(serve_client(std::move(client), state));
    }
}

template <class Listener>
task<io_result<void>> serve_from(Listener listener, router& routes, server_options const how) {
    server_state state(routes, how);
    task_group_options bounded;
    bounded.policy = on_failure::keep_others;
    bounded.children_max = how.connections_max;
    auto const body = [&](task_group& clients) {
        return accept_clients<Listener>(std::forward<Listener>(listener), clients, state);
    };
    co_return co_await task_group::run(bounded, body);
}

} // namespace

task<io_result<void>> serve(tcp_listener& listener, router& routes, server_options const how) {
    return serve_from<tcp_listener&>(listener, routes, how);
}

task<io_result<void>> serve(tcp_listener&& listener, router& routes, server_options const how) {
    return serve_from<tcp_listener>(std::move(listener), routes, how);
}

} // namespace pitsaw::inline v0::http
