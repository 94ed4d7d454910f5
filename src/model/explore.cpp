#include <pitsaw/model/explore.hpp>

#include "model/engine.hpp"

#include <cstdio>
#include <cstdlib>
#include <thread>
#include <unordered_map>

namespace pitsaw::inline v0::model {

auto explore(options const& how, std::function<void()> const& body) -> report {
    if (engine::current() != nullptr) fail("explore within a body that explore runs");
    engine exploration(how, body);
    return exploration.explore();
}

auto explore(std::function<void()> const& body) -> report { return explore(options(), body); }

void fail(char const* what, std::source_location where) noexcept {
    if (auto* const here = engine::current()) here->fail(what, &where);
    std::fprintf(stderr, "%s:%u: %s\n", where.file_name(), static_cast<unsigned>(where.line()), what);
    std::abort();
}

void require(bool holds, char const* what, std::source_location where) noexcept {
    if (!holds) fail(what, where);
}

void name(void const* object, char const* text) noexcept {
    if (auto* const here = engine::current()) here->name(object, text);
}

auto thread::start(std::move_only_function<void()> work, std::source_location where) -> unsigned {
    auto* const here = engine::current();
    if (here == nullptr) fail("a model::thread outside of explore", where);
    return here->start_thread(std::move(work), where);
}

void thread::join(std::source_location where) noexcept {
    if (is_joined_) return;
    is_joined_ = true;
    if (auto* const here = engine::current()) here->join(number_, where);
}

void yield(std::source_location where) noexcept {
    if (auto* const here = engine::current())
        here->yield(where);
    else
        std::this_thread::yield();
}

auto thread_number() noexcept -> unsigned {
    auto* const here = engine::current();
    return here == nullptr ? 0 : here->number();
}

auto thread_local_pointer(void const* key) noexcept -> void*& {
    if (auto* const here = engine::current()) return here->local(key);
    thread_local std::unordered_map<void const*, void*> of_this_thread;
    return of_this_thread[key];
}

namespace detail {

auto is_exploring() noexcept -> bool { return engine::current() != nullptr; }

void made(place const& object) noexcept { engine::current()->made(object); }
void gone(void const* at) noexcept { engine::current()->gone(at); }

auto load(place const& from, std::memory_order order) noexcept -> word {
    return engine::current()->access(from, {.kind = step_kind::load, .order = order}).before;
}
void store(place const& to, word value, std::memory_order order) noexcept {
    engine::current()->access(to, {.kind = step_kind::store, .order = order, .operand = value});
}
auto modify(place const& at, word (*change)(word, word), word operand, std::memory_order order) noexcept
    -> word {
    return engine::current()
        ->access(at, {.kind = step_kind::modify, .order = order, .operand = operand, .change = change})
        .before;
}
auto compare_exchange(place const& at, word& expected, word desired, exchange_orders orders) noexcept
    -> bool {
    auto const done = engine::current()->access(at, {.kind = step_kind::compare_exchange,
                                                     .order = orders.success,
                                                     .failure_order = orders.failure,
                                                     .is_weak = orders.is_weak,
                                                     .expected = expected,
                                                     .operand = desired});
    if (done.written != access::none) return true;
    expected = done.before;
    return false;
}
void wait(place const& at, word old, std::memory_order order) noexcept {
    engine::current()->wait(at, old, order);
}
void notify(place const& at, bool all) noexcept { engine::current()->notify(at, all); }
void fence(std::memory_order order, std::source_location where) noexcept {
    engine::current()->fence(order, where);
}

void read_variable(place const& from) noexcept { engine::current()->variable(from, false); }
void write_variable(place const& to) noexcept { engine::current()->variable(to, true); }

void lock(place const& at) noexcept { engine::current()->lock(at); }
auto try_lock(place const& at) noexcept -> bool { return engine::current()->try_lock(at); }
void unlock(place const& at) noexcept { engine::current()->unlock(at); }
void await_condition(place const& at, place const& mutex) noexcept {
    engine::current()->await_condition(at, mutex);
}

} // namespace detail
} // namespace pitsaw::inline v0::model
