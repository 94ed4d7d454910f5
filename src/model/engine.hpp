#pragma once
#include "model/clock.hpp"
#include "model/fiber.hpp"
#include "model/memory.hpp"
#include "model/operation.hpp"
#include "model/search.hpp"

#include <pitsaw/model/explore.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

namespace pitsaw::inline v0::model {

/// One exploration: runs the body again and again, each thread on a fiber, and asks the search who goes next.
///
/// engine.cpp has the threads, steps.cpp what each step does, trace.cpp the text of a failure. Lifetime:
/// that of `explore`. Threads: the one of the system that called it.
class engine {
  public:
    engine(options const& how, std::function<void()> const& body);
    engine(engine&&) = delete;
    ~engine();

    [[nodiscard]] auto explore() -> report;

    /// The one that runs on this thread of the system, or null.
    [[nodiscard]] static auto current() noexcept -> engine*;

    // What the shells ask for, on the fiber of a thread.
    [[nodiscard]] auto start_thread(std::move_only_function<void()> work, std::source_location where)
        -> unsigned;
    void join(unsigned number, std::source_location where);
    void yield(std::source_location where);
    auto access(detail::place const& at, step next) -> memory::result;
    void wait(detail::place const& at, detail::word old, std::memory_order order);
    void notify(detail::place const& at, bool all);
    void fence(std::memory_order order, std::source_location where);
    void lock(detail::place const& at);
    [[nodiscard]] auto try_lock(detail::place const& at) -> bool;
    void unlock(detail::place const& at);
    void await_condition(detail::place const& at, detail::place const& mutex);
    void variable(detail::place const& at, bool is_write);
    void made(detail::place const& at);
    void gone(void const* at);
    void name(void const* object, char const* text) { memory_.name(object, text); }
    [[noreturn]] void fail(std::string what, std::source_location const* where = nullptr);
    [[nodiscard]] auto number() const noexcept -> unsigned { return running_->view.number; }
    [[nodiscard]] auto local(void const* key) -> void*&;

  private:
    struct virtual_thread {
        fiber stack;
        thread_view view;
        vector_clock causal; ///< what was executed for its next step to be possible
        step pending;
        std::move_only_function<void()> work;
        std::vector<std::pair<void const*, void*>> locals;
        std::source_location made_at;
        unsigned maker = 0;
        bool has_finished = false;
        bool is_notified = false;
        bool has_yielded = false;
        bool is_excused = false; ///< a compare_exchange has failed without reason: its yield waits for nobody
        std::uint64_t changes = 0;                  ///< its own
        std::uint64_t others_at_yield = 0;          ///< the changes of others, when it yielded
        std::uint64_t others_at_retry = UINT64_MAX; ///< ... when it looked again although there was none
    };

    /// One line of the trace.
    struct log_entry {
        unsigned thread;
        step what;
        std::uint32_t choice;
        memory::result values{0, 0, access::none, access::none};
        std::uint32_t from = access::none; ///< the entry that wrote what was read
        enum class outcome : std::uint8_t { done, failed, failed_spuriously, parked, not_parked } how{};
        std::uint32_t woken = 0;
    };

    [[nodiscard]] auto step_once(step next) -> log_entry&;
    auto begin_step(step const& next) -> log_entry&;
    void go_on();
    [[nodiscard]] auto pick() -> unsigned;
    [[nodiscard]] auto enabled() noexcept -> thread_mask;
    [[nodiscard]] auto is_enabled(virtual_thread const& of) const noexcept -> bool;
    [[nodiscard]] auto others_changes(virtual_thread const& of) const noexcept -> std::uint64_t {
        return changes_ - of.changes;
    }
    [[nodiscard]] auto preferred(thread_mask among) const noexcept -> unsigned;
    [[nodiscard]] auto find(detail::place const& at) -> std::uint32_t;
    [[nodiscard]] auto pending_of(unsigned number) -> pending;
    void settle(step const& now);
    void note_change() noexcept;
    [[nodiscard]] auto choose(std::uint64_t mask) -> unsigned;
    void begin_run();
    [[noreturn]] void end_run();
    [[noreturn]] void thread_main();
    [[noreturn]] void finish_thread();
    [[noreturn]] void stuck();

    // trace.cpp
    [[nodiscard]] auto trace() const -> std::string;
    [[nodiscard]] auto line(log_entry const& each) const -> std::string;
    [[nodiscard]] auto value_text(std::uint32_t object, detail::word value) const -> std::string;
    [[nodiscard]] auto rerun() const -> std::string;
    [[nodiscard]] auto waits_text(virtual_thread const& of) const -> std::string;

    options how_;
    std::function<void()> const& body_;
    report report_;
    std::array<virtual_thread, threads_max> threads_;
    unsigned count_ = 0;
    virtual_thread* running_ = nullptr;
    unsigned runner_ = 0; ///< whose the last step was that others may mind
    fiber explorer_;
    memory memory_;
    search search_;
    std::vector<log_entry> log_;
    std::uint32_t steps_ = 0;
    std::uint64_t changes_ = 0;
    alternatives alternatives_;
    bool is_paused_ = false; // the checker's own work, which is no access of the body
    bool has_failed_ = false;
};

} // namespace pitsaw::inline v0::model
