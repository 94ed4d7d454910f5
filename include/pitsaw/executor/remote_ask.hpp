#pragma once
#include <pitsaw/base/atomic.hpp>
#include <pitsaw/executor/continuation.hpp>
#include <pitsaw/executor/executor_ref.hpp>

#include <cstdint>

namespace pitsaw::inline v0 {

/// Carries a stop from any thread to the worker whose children it concerns, as a node of the worker's inbox.
///
/// The owner's stop source has its bit already; this only makes the suspended leaves notice. The node may
/// still be on its way when its scope has ended; whoever comes second, the end or the delivery, goes on.
///
/// | bit         | written by              | meaning                                                |
/// |-------------|-------------------------|--------------------------------------------------------|
/// | `asked`     | any thread, in `begin`  | the node is or will be in the inbox, or was            |
/// | `delivered` | the worker, on arrival  | the node is back in its owner's hands                  |
/// | `closed`    | the worker, in `close`  | the scope has ended; a later `begin` sends nothing     |
///
/// Lifetime: a member of its scope, which must not go while `close()` said that the node is on its way.
/// Threads: `begin` and `send` from any, the rest by the worker.
class remote_ask {
  public:
    /// `on_arrival(owner, is_closed)` runs on the worker, once, after the first `begin`.
    using arrival = void (*)(void* owner, bool is_closed) noexcept;

    remote_ask(arrival on_arrival, void* owner) noexcept
        : frame_{arrived, destroyed, {}, on_arrival, owner} {}
    remote_ask(remote_ask&&) = delete;

    /// True for the first: then `send` follows, and until the node has arrived `close` keeps the owner alive.
    /// After false the owner may be gone.
    [[nodiscard]] bool begin() noexcept {
        // acq_rel: pairs with close(), which then knows that a node comes.
        return (bits_.fetch_or(asked, std::memory_order_acq_rel) & (asked | closed)) == 0;
    }

    /// Sends the node; the last use of the owner by this thread.
    void send(executor& worker) noexcept { worker.post_from_any_thread(frame_.node, resume_as::callback); }

    /// The scope has ended. False: a node is on its way, and its arrival (with `is_closed`) ends the scope.
    [[nodiscard]] bool close() noexcept {
        auto const before = bits_.fetch_or(closed, std::memory_order_acq_rel); // pairs with begin()
        return (before & (asked | delivered)) != asked;
    }

  private:
    struct frame {
        void (*resume)(void*) noexcept;
        void (*destroy)(void*) noexcept;
        continuation node;
        arrival on_arrival;
        void* owner;
    };

    static void arrived(void* where) noexcept;
    static void destroyed(void*) noexcept {}

    static constexpr std::uint8_t asked = 1;
    static constexpr std::uint8_t delivered = 2;
    static constexpr std::uint8_t closed = 4;

    frame frame_;
    detail::atomic<std::uint8_t> bits_ = 0;
};

} // namespace pitsaw::inline v0
