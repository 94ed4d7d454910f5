#pragma once
#include <pitsaw/base/atomic.hpp>
#include <pitsaw/executor/remote_ask.hpp>
#include <pitsaw/task/promise_header.hpp>

#include <coroutine>
#include <cstdint>
#include <exception>

namespace pitsaw::inline v0 {

/// A chain of awaits that runs on another worker than the scope that waits for it: the child of a group, and
/// what `with_executor` runs.
///
/// It has an environment of its own, the scope's with the other executor. A node in the other worker's inbox
/// starts it there; another brings its end home. A stop stands in the scope's slot and travels
/// in a `remote_ask`; of a stop that goes there and an end that would come back, whoever comes second comes
/// back. What runs there is destroyed there, and all that the scope counts is counted at home.
///
/// | call        | on      | what it does                                                      |
/// |-------------|---------|-------------------------------------------------------------------|
/// | `depart`    | home    | sends it, or offers it; until `returned` it may be anywhere       |
/// | `ask`       | home    | sends a stop after it                                             |
/// | `make`      | there   | makes what runs                                                   |
/// | `clear`     | there   | keeps the result for home, and destroys what has run              |
/// | `returned`  | home    | the scope goes on                                                 |
///
/// One that is offered has no place when it departs. `place_` says who has taken it, and whether a stop was
/// asked for before: a read-modify-write each, of which the second sees the first. Who starts it after a stop
/// sees the stop source's bit; a stop that comes after the start knows where to.
/// tests/model/away_chain_test.cpp explores it.
///
/// | `place_`       | written by                     | meaning                                         |
/// |----------------|--------------------------------|-------------------------------------------------|
/// | an executor    | `depart`, or who takes it      | it runs, or will, on that worker                |
/// | `asked`        | home, in `ask`                 | a stop has been asked for                       |
///
/// Lifetime: from `depart` to `returned` it must not go. Threads: as the table says; where it travels to its
/// own worker all of it is at home. Errors: what cannot be made is an ending with an exception. Stopping: the
/// scope's. Its scopes take no memory from the environment's resource, which belongs to home.
class away_chain : public waiter {
  public:
    away_chain(away_chain&&) = delete;

  protected:
    away_chain() noexcept;
    ~away_chain() = default;

    /// `of` is the scope's environment; `by` stands above the chain in its async stack, and may not move on.
    void depart(executor& to, environment const& of, promise_header& by) noexcept;
    /// The same to whichever worker takes it first.
    void depart_anywhere(environment const& of, promise_header& by) noexcept;

    /// The chain's first header, not yet begun; null: it could not be made, and why has been kept.
    [[nodiscard]] virtual promise_header* make() noexcept = 0;
    /// `root` is null if there was none.
    virtual void clear(promise_header* root) noexcept = 0;
    /// The last use of this; returns what runs next.
    [[nodiscard]] virtual std::coroutine_handle<> returned(ending how) noexcept = 0;

    [[nodiscard]] executor& home() const noexcept { return *home_; }

  private:
    struct chain : boundary {
        explicit chain(away_chain& of) noexcept : boundary(ended), self(of) {}
        away_chain& self;
    };
    /// A hand-made frame, which first goes there and then comes back.
    struct traveller {
        void (*resume)(void*) = nullptr;
        void (*destroy)(void*) = nothing_to_destroy;
        continuation node;
        away_chain& self;

        explicit traveller(away_chain& of) noexcept : self(of) {}
    };

    void take_leave(environment const& of, promise_header& by) noexcept;
    void arrive() noexcept;
    [[nodiscard]] bool is_at_home() const noexcept { return &*env_.executor == home_; }
    [[nodiscard]] std::coroutine_handle<> leave() noexcept;
    void go_home() noexcept;

    static std::coroutine_handle<> ended(boundary& edge, promise_header& root, ending how) noexcept;
    static void asked(waiter& self) noexcept;
    static void stop_arrived(void* self, bool is_closed) noexcept;
    static void arrives(void* where);
    static void comes_home(void* where);
    static void nothing_to_destroy(void*) {}

    static constexpr std::uintptr_t asked_for = 1;

    executor* home_ = nullptr;                 ///< set once, at the departure
    promise_header* above_ = nullptr;          ///< the same
    environment env_;                          ///< the same, its executor where it runs; the chain's
    detail::atomic<std::uintptr_t> place_ = 0; ///< home and who takes it
    chain chain_{*this};                       ///< there
    traveller traveller_{*this};               ///< whoever has it
    ending how_ = ending::value;               ///< there, then at home
    remote_ask stop_;
};

} // namespace pitsaw::inline v0
