#pragma once
#include <pitsaw/base/clock.hpp>
#include <pitsaw/executor/runtime.hpp>
#include <pitsaw/io/socket_address.hpp>
#include <pitsaw/sim/disk.hpp>
#include <pitsaw/sim/program.hpp>
#include <pitsaw/task/task.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace pitsaw::inline v0::sim {

class world;
struct node_parts;

/// Where a node of a world is to be reached; wherever an endpoint is wanted. A value; it stays the same in
/// all lives of the node.
struct node_address : socket_address {
    template <class Endpoint>
        requires std::constructible_from<Endpoint, socket_address const&>
    [[nodiscard]] explicit(false) operator Endpoint() const {
        return Endpoint(static_cast<socket_address const&>(*this));
    }
};

/// How a node dies: a value.
enum class death : std::uint8_t {
    of_process, ///< its kernel lives on: it closes the connections, and the peers hear of it
    of_machine, ///< nobody says a word: peers learn of it when they ask after the restart, or give up
};

/// Of the runtime that each life of a node gets, and of its machine. Its world is closed in any case. All of
/// its workers are in the world's one thread, which gives them turns by its seed: names, processors and
/// `on_thread_start` mean nothing there.
///
/// ```cpp
/// ps::sim::node_options small;
/// small.pool_buffer_bytes = 1; // every received chunk has one byte
/// ```
struct node_options : runtime_options {
    node_options() { pool_buffers = 256; } // a world has many

    disk_options disk; ///< its seed is drawn from the world's
};

/// A machine of a simulated world that runs one program.
///
/// ```cpp
/// auto& server = world.service("server", [](ps::sim::node&) { return serve(ps::endpoint::any(80)); });
/// world.node("client", [&](ps::sim::node&) { return visit(server.at(80)); });
/// world.node("fate", [&](ps::sim::node&) -> ps::task<> {
///     co_await ps::sleep(3ms);
///     server.kill();
///     server.restart();
/// });
/// world.run();
/// ```
/// A program that is killed leaves nothing in the world: its connections are gone at that moment, and nothing
/// it does afterwards is seen by others or on its disk. Its frames are then unwound as by a stop, so that a
/// test leaks nothing: destructors and clean-ups run, as ghosts, in no time, and what they do to the test's
/// own objects is seen. What waits in a shield gets `network_down`; one that waits there for nothing is an
/// error.
/// Lifetime: the world's. Threads: the world's. Errors: those of its program are in `failure`. Stopping:
/// `stop` asks the program as SIGTERM does; a kill ends it.
class node {
  public:
    node(node&&) = delete;
    ~node();

    [[nodiscard]] std::string const& name() const noexcept;
    /// Of its present life; a checked error while it has none.
    [[nodiscard]] runtime& get_runtime() const;
    [[nodiscard]] node_address at(std::uint16_t port) const noexcept;

    [[nodiscard]] bool is_running() const noexcept;
    /// Lives so far: 1 after it was made.
    [[nodiscard]] std::uint64_t lives() const noexcept;
    /// When its last life ended: the end of its program, or the kill. `time_point::min()` before that.
    [[nodiscard]] time_point ended_at() const noexcept;
    /// What was wrong when its program ended, of any life: an exception's or an error's text; else empty.
    [[nodiscard]] std::string const& failure() const noexcept;

    /// It outlives the node's programs: a kill closes its files, and one of the machine loses what was not
    /// synced.
    [[nodiscard]] disk& get_disk() noexcept;

    /// Asks its program to stop.
    void stop() noexcept;
    /// Ends it at once; one that runs just now, at the end of its turn, before anybody else has one. Does
    /// nothing to one that does not run.
    void kill(death how = death::of_process);
    /// The same, for a program about itself: nothing behind it runs. Awaited by another it waits for nothing.
    [[nodiscard]] task<> crash(death how = death::of_process);
    /// Its program begins anew. It must not be running; or be about to die, as after a `kill` of its own.
    void restart();
    /// It does nothing for so long, and then finds that its clock has moved on. Of two pauses the longer
    /// counts.
    void pause(duration span);

  private:
    friend class world;
    explicit node(std::unique_ptr<node_parts> parts);
    std::unique_ptr<node_parts> parts_;
};

} // namespace pitsaw::inline v0::sim
