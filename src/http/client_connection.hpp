#pragma once
#include <pitsaw/executor/executor_ref.hpp>
#include <pitsaw/http/client.hpp>
#include <pitsaw/io/buffer_pool.hpp>
#include <pitsaw/io/operation.hpp>
#include <pitsaw/net/tcp_stream.hpp>
#include <pitsaw/task/promise_header.hpp>

#include "http/head_parser.hpp"
#include "http/input_buffer.hpp"
#include "http/output_buffer.hpp"
#include "http/received_body.hpp"

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace pitsaw::inline v0::http {

class client_connection;
class connection_pool;

/// The receive of a connection that waits for a request: whatever comes then ends the connection. When a
/// request is sent meanwhile it stays, and what comes is the answer; so it costs nothing.
///
/// Lifetime: its own. A connection that goes leaves it behind, for it may be in flight; closing the
/// descriptor ends it, and then it frees itself. Threads: the connection's worker. Stopping: the wait for it
/// stops, and what had come is lost with the connection.
class resting_receive : operation, waiter {
  public:
    resting_receive(executor_ref on, descriptor of, client_connection& owner) noexcept
        : operation(op_code::receive, of, ended), waiter(asked), on_(on), owner_(&owner) {}

    void begin() noexcept;
    /// Whether its result is still to be taken.
    [[nodiscard]] bool has_begun() const noexcept { return at_ != stage::none; }

    struct [[nodiscard]] arrival {
        resting_receive& of;
        [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept;
        /// `no_buffer_space`: it is still there.
        [[nodiscard]] io_result<lease> await_resume() noexcept { return of.take(); }
    };
    /// Waits for what comes.
    [[nodiscard]] arrival arrived() noexcept { return {*this}; }

    struct abandon {
        void operator()(resting_receive* one) const noexcept;
    };

  private:
    enum class stage : std::uint8_t { none, in_flight, ended };

    static void ended(operation& self, event const& done) noexcept;
    static void asked(waiter& self) noexcept;
    [[nodiscard]] io_result<lease> take() noexcept;

    executor_ref on_;
    client_connection* owner_;         // null: it is gone
    promise_header* header_ = nullptr; // who waits for it
    buffer_pool* from_ = nullptr;      // null: the heap
    std::unique_ptr<std::byte[]> own_;
    lease got_;
    std::int32_t result_ = 0;
    stage at_ = stage::none;
};

/// One connection of a client, with one request at a time.
class client_connection {
  public:
    client_connection(executor_ref on, tcp_stream to, endpoint at, connection_pool& of);
    client_connection(client_connection&&) = delete;

    /// Sends, and receives the head of the answer.
    [[nodiscard]] task<io_result<void>> exchange(client_request& ask);

    [[nodiscard]] message_head const& head() const noexcept { return head_; }
    [[nodiscard]] received_body& body() noexcept { return body_; }
    [[nodiscard]] endpoint const& at() const noexcept { return at_; }
    /// Whether a byte of the answer has come.
    [[nodiscard]] bool has_received() const noexcept { return has_received_; }
    /// Whether another request may follow.
    [[nodiscard]] bool is_free() const noexcept {
        return is_kept_ && body_.is_done() && in_.unread().empty();
    }
    /// It waits for a request from now on.
    void rest(time_point now) noexcept;
    [[nodiscard]] time_point idle_since() const noexcept { return idle_since_; }

  private:
    friend resting_receive;

    void write_head(client_request& ask, framed_writer::framing how);
    [[nodiscard]] task<io_result<void>> write(client_request& ask);
    [[nodiscard]] task<io_result<lease>> receive();
    [[nodiscard]] task<io_result<void>> receive_more();
    [[nodiscard]] task<io_result<void>> receive_head(method to);

    connection_pool& pool_;
    std::unique_ptr<resting_receive, resting_receive::abandon> resting_;
    tcp_stream stream_;
    endpoint at_;
    time_point idle_since_ = never;
    head_limits limits_;
    input_buffer in_;
    output_buffer out_;
    received_body body_;
    message_head head_;
    bool has_received_ = false;
    bool is_kept_ = false;
};

/// The connections that wait for a request.
class connection_pool {
  public:
    explicit connection_pool(client_options const& how) : options(how) { idle_.reserve(how.idle_max); }

    /// One to `at` that can be used, or null; what cannot is closed.
    [[nodiscard]] std::unique_ptr<client_connection> take(endpoint const& at, executor& on) noexcept;
    void give_back(std::unique_ptr<client_connection> one, time_point now) noexcept;
    /// Closes it, if it is one of them.
    void evict(client_connection const& one) noexcept;
    [[nodiscard]] std::size_t size() const noexcept { return idle_.size(); }

    client_options const options;

  private:
    std::vector<std::unique_ptr<client_connection>> idle_; // the one used last is at the end
};

} // namespace pitsaw::inline v0::http
