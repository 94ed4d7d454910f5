#pragma once
#include <pitsaw/base/clock.hpp>
#include <pitsaw/base/random.hpp>
#include <pitsaw/executor/runtime.hpp>
#include <pitsaw/io/descriptor.hpp>
#include <pitsaw/sim/faults.hpp>
#include <pitsaw/sim/network_options.hpp>
#include <pitsaw/sim/node.hpp>
#include <pitsaw/sim/program.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace pitsaw::inline v0::sim {

/// How a simulated world behaves.
struct world_options {
    /// Every choice comes from it; the same seed gives the same run.
    std::uint64_t seed = 0;
    /// No choices at all: everything completes at once, whole and in order; the network's latency is the
    /// least.
    bool is_calm = false;
    /// As `runtime_options::pool_buffers`, of the world's own node; 0: every pooled receive falls back to the
    /// heap.
    std::uint32_t pool_buffers = 256;
    network_options network = {};
    sim::faults faults = {};
    /// A run that goes on for longer is a checked error.
    duration time_max = std::chrono::hours(24 * 365);
    /// The same for one that takes more turns of its workers.
    std::uint64_t steps_max = 100'000'000;
};

/// The seed that a failing run printed, from the environment variable PITSAW_SIM_SEED, else `otherwise`.
/// Errors: a value that is no number ends the process with a message.
[[nodiscard]] std::uint64_t seed_from_environment(std::uint64_t otherwise = 0);

/// How many seeds a test is to try, from the environment variable PITSAW_SIM_SEEDS, else `otherwise`: few for
/// each build, more for a night. Errors: as above.
[[nodiscard]] std::uint64_t seeds_from_environment(std::uint64_t otherwise);

/// A simulated world: machines that run unmodified programs, the network between them, one virtual time, one
/// seed, one thread; and books that must balance.
///
/// ```cpp
/// ps::sim::world world({.seed = ps::sim::seed_from_environment(7)});
/// auto& server = world.service("server", [](ps::sim::node&) { return serve(ps::endpoint::any(80)); });
/// world.node("client", [&](ps::sim::node&) { return visit(server.at(80)); });
/// world.run();
/// EXPECT_TRUE(world.books_balance()) << world.imbalance() << world.rerun();
/// ```
/// The environment variable PITSAW_SIM_TRACE=1 makes it print every event and every resumed coroutine with
/// its time, node and async stack.
/// Lifetime: outlives what runs in it; what still runs when it is destroyed is stopped first. Threads: one.
/// Errors: a deadlock, for nobody outside can wake it, and a run beyond the limits of `world_options` are
/// checked errors, which say how to run it again. Stopping: `run()` stops the services at the end. Sizes: its
/// books count a thread's frames, so have one world at a time on a thread; each turn looks at every node.
class world {
  public:
    explicit world(world_options options = {});
    world(world&&) = delete;
    ~world();

    /// A machine whose program ends by itself: `run()` waits for it. `body` takes the node and returns a task
    /// of anything; it is kept, and called again for each life.
    template <class Body> sim::node& node(std::string name, Body body, node_options with = {}) {
        return add(std::move(name), maker_of(std::move(body)), false, with);
    }
    /// A machine whose program serves until it is asked to stop, which `run()` does when the others have
    /// ended, the latest made first.
    template <class Body> sim::node& service(std::string name, Body body, node_options with = {}) {
        return add(std::move(name), maker_of(std::move(body)), true, with);
    }

    /// Until every node has ended.
    void run();

    /// Runs `work` on the world's own machine until it has ended, and the nodes meanwhile.
    template <awaitable A> [[nodiscard]] auto run(A&& work) {
        static_assert(is_task<A>, "world::run takes a task: co_await the scope or leaf in one");
        own_machine const here(*this); // its worker is the current one until the frame is gone
        program_of<typename A::value_type> chain(std::move(work));
        run_own(chain);
        return chain.take();
    }

    /// Nothing arrives from one at the other, either way, until it is healed.
    void cut(sim::node const& one, sim::node const& other);
    void heal(sim::node const& one, sim::node const& other);
    void heal(); ///< every cut
    /// Every connection between the two is broken.
    void reset_connections(sim::node const& one, sim::node const& other);
    /// So much more latency between the two, each way.
    void slow_down(sim::node const& one, sim::node const& other, duration more);

    /// Called before each step with its number, and again with the same one when only time has passed: a
    /// place to kill, cut or look at any event. Null: no more.
    void before_each_step(std::function<void(std::uint64_t step)> call);

    [[nodiscard]] std::uint64_t seed() const noexcept;
    [[nodiscard]] std::uint64_t steps() const noexcept; ///< turns that workers have taken
    /// For choices of the test's own.
    [[nodiscard]] random_source& random() noexcept;
    /// What this run was and how to run it again: seed, commit, step and command.
    [[nodiscard]] std::string rerun() const;

    /// Of the world's own machine.
    [[nodiscard]] runtime& get_runtime() noexcept;
    [[nodiscard]] time_point now() const noexcept;

    /// Virtual time passes while nobody looks: what a task that blocks its thread does.
    void advance(duration by);

    /// Two ends of a connection within the world's own machine. What is still open when the world ends is
    /// closed then.
    [[nodiscard]] std::pair<descriptor, descriptor> make_stream_pair();

    /// Bytes that have arrived at `stream` and were not received.
    [[nodiscard]] std::size_t readable_bytes(descriptor stream) const noexcept;

    /// Between runs: what is left over that should not be (frames, operations, timers, sockets, bytes, nodes
    /// that run), in words; empty if nothing is.
    [[nodiscard]] std::string leftovers() const;
    /// What the programs of nodes failed with (`node::failure`), in words; empty if none did.
    [[nodiscard]] std::string failures() const;
    /// Both; empty when the books balance. Where a program may fail, and only nothing may be left over, ask
    /// for `leftovers`.
    [[nodiscard]] std::string imbalance() const;
    [[nodiscard]] bool books_balance() const { return imbalance().empty(); }

    struct parts; ///< of the library's

  private:
    friend class sim::node;
    friend class harness_run;
    using maker = std::move_only_function<std::unique_ptr<program>(sim::node&)>;

    /// Makes the world's own worker the thread's current one; at its end waits for what the frame's end has
    /// left to the driver.
    class own_machine {
      public:
        explicit own_machine(world& of);
        own_machine(own_machine&&) = delete;
        ~own_machine();

      private:
        world& of_;
    };

    template <class Body> static maker maker_of(Body body) {
        return [body = std::move(body)](sim::node& on) mutable -> std::unique_ptr<program> {
            auto work = body(on);
            using value_type = typename decltype(work)::value_type;
            return std::make_unique<program_of<value_type>>(std::move(work));
        };
    }
    sim::node& add(std::string name, maker body, bool is_service, node_options const& with);
    void run_own(program& chain);
    [[nodiscard]] sim::node* latest_running() const noexcept; ///< of those that were made; or null

    std::unique_ptr<parts> parts_;
};

} // namespace pitsaw::inline v0::sim
