#include <pitsaw/http/client.hpp>

#include <pitsaw/scope/with_deadline.hpp>
#include <pitsaw/task/or_return.hpp>
#include <pitsaw/task/this_task.hpp>

#include "http/characters.hpp"
#include "http/client_connection.hpp"

#include <stdexcept>
#include <utility>

namespace pitsaw::inline v0::http {
namespace {

/// The body of an answer; owns its connection, and gives it back when all has been read.
class answer_body final : public body_source {
  public:
    answer_body(connection_pool& pool, std::unique_ptr<client_connection> from) noexcept
        : pool_(pool), from_(std::move(from)) {}
    ~answer_body() override {
        if (from_->is_free() && current_executor() != nullptr)
            pool_.give_back(std::move(from_), current_executor()->now());
    }

    task<io_result<std::span<std::byte const>>> read() override { return from_->body().read(); }

  private:
    connection_pool& pool_;
    std::unique_ptr<client_connection> from_;
};

} // namespace

client_request::client_request(http::method const what, std::string_view const host,
                               std::string_view const target)
    : host_(host), target_(target), method_(what) {
    bool const is_good = what != method::other && what != method::connect && !host.empty() &&
                         is_all(host, is_host) && !target.empty() && is_all(target, is_target);
    if (!is_good) throw std::invalid_argument("http::client_request: no valid method, host or target");
}

client::client(client_options const how) : pool_(std::make_unique<connection_pool>(how)) {}
client::client(client&&) noexcept = default;
client::~client() = default;

std::size_t client::idle() const noexcept { return pool_->size(); }

task<io_result<client_response>> client::send(endpoint const to, client_request ask) {
    environment const& env = co_await this_task::get_environment();
    auto connection = pool_->take(to, *env.executor);
    // It is watched, but by the driver, which was asked some time ago. A request that can be repeated need
    // not look.
    while (connection != nullptr && !can_be_repeated(ask) && connection->is_stale())
        connection = pool_->take(to, *env.executor);
    for (;;) {
        if (connection == nullptr) {
            auto const patience = pool_->options.connect_timeout;
            auto stream = co_await or_return(with_timeout(patience, tcp_stream::connect(to)));
            connection = std::make_unique<client_connection>(env.executor, std::move(stream), to, *pool_);
        }
        auto const done = co_await connection->exchange(ask);
        if (done.has_value()) break;
        if (!connection->may_repeat(ask, done.error())) co_return std::unexpected(done.error());
        connection.reset();
    }
    auto const& head = connection->head();
    header_view const fields(head.headers);
    unsigned const status = head.status;
    auto body = std::make_unique<answer_body>(*pool_, std::move(connection));
    client_response made(std::move(body), status, fields);
    co_return io_result<client_response>(std::move(made));
}

} // namespace pitsaw::inline v0::http
