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
#include <system_error>
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
    /// Whether something has come, or would if one looked.
    [[nodiscard]] bool has_input() const noexcept;
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

/// Whether a request can be sent twice, and do what it does once (RFC 9110 section 9.2.2).
[[nodiscard]] bool can_be_repeated(client_request& ask) noexcept;

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
    /// After a failed exchange: whether the request may be sent again on another connection.
    [[nodiscard]] bool may_repeat(client_request& ask, std::error_code why) const noexcept;
    /// Whether another request may follow.
    [[nodiscard]] bool is_free() const noexcept {
        return is_kept_ && body_.is_done() && in_.unread().empty();
    }
    /// It waits for a request from now on.
    void rest(time_point now) noexcept;
    /// Whether it has waited for too long.
    [[nodiscard]] bool is_old(time_point now) const noexcept;
    /// Whether its server closed it while it waited, or said something.
    [[nodiscard]] bool is_stale() const noexcept { return resting_->has_input(); }

  private:
    friend resting_receive;

    [[nodiscard]] bool is_reused() const noexcept { return idle_since_ != never; }
    /// Whether it makes sense to look for an answer though not all of the request could be sent: a server
    /// that closes early has answered. What comes before the first byte was sent answers something else.
    [[nodiscard]] bool may_be_answered() const noexcept {
        return out_.is_broken() && (out_.has_sent() || !is_reused());
    }
    void write_head(client_request& ask, framed_writer::framing how);
    [[nodiscard]] task<io_result<void>> write(client_request& ask);
    [[nodiscard]] task<io_result<lease>> receive();
    [[nodiscard]] task<io_result<void>> receive_more();
    [[nodiscard]] task<io_result<void>> receive_head(method to);
    /// Writes; then waits for ever, unless that failed so that no answer is worth waiting for.
    [[nodiscard]] task<io_result<void>> write_and_wait(client_request& ask);

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
    io_result<void> sent_;      // how the writing ended
    bool is_written_ = false;   // it has ended
    bool has_received_ = false; // a byte of the answer
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
