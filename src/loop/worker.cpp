#include "loop/worker.hpp"

#include "loop/stall_watchdog.hpp"

#include "os/posix/thread_number.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace pitsaw::inline v0 {

namespace {

// The driver is polled after this many resumes or this much time, whichever comes first; the count stretches
// up to the maximum while polls find nothing, for then tasks only wait for each other. The clock is read
// every few resumes, since reading it costs more than a resume.
constexpr std::uint32_t resumes_min = 61;
constexpr std::uint32_t resumes_max = 16 * resumes_min;
constexpr std::uint32_t resumes_between_clock_reads = 8;
constexpr duration time_between_polls_max = std::chrono::milliseconds(1);

// Timers fired or moved in one turn; more wait for the next, so that a million of them do not stop the world.
constexpr std::size_t timers_per_turn = 4096;

// A close may wait for its descriptor's last operation, and that for the kernel.
constexpr duration time_for_discards_max = std::chrono::seconds(5);

} // namespace

worker::worker(std::unique_ptr<driver> own, runtime_options options)
    : local(options.local), recorder_(make_flight_recorder(options.recorder, *own)),
      driver_(with_inputs_recorded(std::move(own), recorder_.get())), options_(std::move(options)),
      resumes_between_polls_(resumes_min), stop_from_afar_(stop_arrived, this) {
    io = driver_.get();
    recorder = recorder_.get();
    computes = &lane_;
    has_virtual_time = driver_->features().virtual_time;
}

worker::~worker() {
    check(!is_running(), "a runtime was destroyed by work that runs on it: let its sync_wait return first");
    if (!stop_from_afar_.close()) { // a stop is on its way from another thread: it must not find us gone
        while (!has_stop_arrived_) {
            take_inbox();
            if (ready.empty()) detail::yield_thread(); // to the one that is about to send it
            while (!ready.empty()) resume_one();
        }
    }
    wait_for_posters();
    take_inbox();
    end_abandoned();
    check_nothing_is_left();
    // What is left are descriptors that were discarded: nobody's event is in there.
    auto const deadline = saturating_add(now(), time_for_discards_max);
    for (auto left = driver_->drain(events_, deadline); left.remaining != 0;
         left = driver_->drain(events_, deadline))
        if (now() >= deadline) break; // the driver's destructor names what remains
    lost_errors_.tell_of_untold();
}

void worker::check_nothing_is_left() const noexcept {
    check(operations == 0, "a runtime was destroyed with operations in flight");
    check(ready.empty(), "a runtime was destroyed with work that had not ended: a coroutine is ready to run");
    check(foreign == 0,
          "a runtime was destroyed with work that had not ended: a foreign coroutine, a thread or a "
          "portal still needs it");
    check(away == 0,
          "a runtime was destroyed with work that had not ended: another worker has a child of it");
    check(
        shared == nullptr || !shared->is_open_at(number),
        "a runtime was destroyed with work that had not ended: a child that was spawned for anywhere waits");
    check(timers.empty(), "a runtime was destroyed with work that had not ended: a timer waits");
}

void worker::request_stop(stop_reason const why) noexcept {
    if (current_executor() == this) {
        if (recorder != nullptr) recorder->note(flight_kind::stop, static_cast<std::int64_t>(why));
        stop.request_stop(why);
        if (root != nullptr) root->ask_to_stop();
    } else if (stop_from_afar_.begin()) {
        stop.request_stop(why);
        stop_from_afar_.send(*this);
    }
}

void worker::stop_arrived(void* const self, bool) noexcept {
    auto& arrived_at = *static_cast<worker*>(self);
    arrived_at.has_stop_arrived_ = true;
    if (arrived_at.recorder != nullptr)
        arrived_at.recorder->note(flight_kind::stop,
                                  static_cast<std::int64_t>(arrived_at.stop.get_token().reason()));
    if (arrived_at.root != nullptr) arrived_at.root->ask_to_stop();
}

void worker::be_at_home() noexcept {
    if (home_ == 0) home_ = this_thread_number();
    check(home_ == this_thread_number(),
          "a runtime belongs to the thread of its first sync_wait: make one on each thread");
}

void worker::run(bool const& is_done) noexcept {
    be_at_home();
    is_running_.store(true, std::memory_order_relaxed);
    if (watchdog != nullptr) watchdog->attend(*this, number, pulse_);
    polled_at_ = now();
    if (recorder != nullptr) recorder->set_time(polled_at_);
    while (!is_done) {
        if (shared == nullptr) [[likely]]
            resume_ready(is_done);
        else
            resume_ready_or_open(is_done);
        if (!is_done) poll_once(true);
    }
    deliver(driver_->poll(events_, time_point::min())); // what was discarded last is to be closed now
    end_abandoned();                                    // on this thread, whoever destroys the runtime
    if (watchdog != nullptr) watchdog->leave(*this);
    is_running_.store(false, std::memory_order_relaxed);
}

void worker::step(bool const& is_done) noexcept {
    be_at_home();
    is_running_.store(true, std::memory_order_relaxed);
    // What is open is had with the poll, one at a time: others of the runtime have their turns in between.
    for (std::uint32_t resumes = 0; resumes < resumes_min && !ready.empty() && !is_done; ++resumes) {
        auto const next = ready.pop();
        if (guide != nullptr) guide->resumes(*next.next, next.how);
        resume(next);
    }
    if (is_done)
        deliver(driver_->poll(events_, time_point::min())); // as run() does at its end
    else
        poll_once(false);
    is_running_.store(false, std::memory_order_relaxed);
}

void worker::end_abandoned() noexcept {
    while (abandoned != 0) deliver(driver_->poll(events_, never));
}

void worker::resume_ready(bool const& is_done) noexcept {
    for (std::uint32_t resumes = 1; !ready.empty() && !is_done; ++resumes) {
        resume_one();
        if (is_poll_due(resumes)) break;
    }
}

void worker::resume_ready_or_open(bool const& is_done) noexcept {
    for (std::uint32_t resumes = 1; has_next() && !is_done; ++resumes) {
        resume_one();
        if (is_poll_due(resumes)) break;
    }
}

bool worker::is_poll_due(std::uint32_t const resumes) const noexcept {
    return resumes >= resumes_between_polls_ ||
           ((resumes % resumes_between_clock_reads == 0 || hops.is_spent()) && // spent: that one was long
            saturating_difference(now(), polled_at_) >= time_between_polls_max);
}

void worker::offer(continuation& to) noexcept {
    if (shared == nullptr)
        ready.push(to, resume_as::callback);
    else
        shared->offer(number, to, ready.empty());
}

void worker::resume_one() noexcept { resume(ready.pop()); }

void worker::resume(ready_queue::entry const& turn) noexcept {
    auto const [next, how] = turn;
    hops.refill();
    if (watchdog != nullptr) [[unlikely]]
        pulse_.resumes();
    if (how == resume_as::callback) {
        current = nullptr;
        next->handle().resume();
    } else {
        current = next;
        if (how == resume_as::coroutine)
            next->handle().resume();
        else if (how == resume_as::stopped)
            static_cast<promise_header*>(next)->climb().resume();
        else if (how == resume_as::ended)
            static_cast<promise_header*>(next)->ended(ending::value).resume();
        else
            resume_completed(static_cast<promise_header&>(*next));
    }
    current = nullptr;
}

void worker::resume_completed(promise_header& waiting) noexcept {
    waiting.completed_elsewhere();
    waiting.handle().resume();
}

void worker::take_inbox() noexcept {
    for (std::size_t each = 0; each < priority_count; ++each)
        inboxes_[each].take_all([this, each](continuation& node, std::uintptr_t const tag) noexcept {
            auto const how = static_cast<resume_as>(tag);
            bool const is_header = how != resume_as::callback;
            ready.push(node, how,
                       is_header ? static_cast<promise_header&>(node).env->level
                                 : static_cast<priority>(each));
        });
}

void worker::poll_once(bool const may_wait) noexcept {
    take_inbox();
    bool sleeps = may_wait && ready.empty();
    if (shared != nullptr) [[unlikely]]
        sleeps = is_to_sleep_among_others(may_wait);
    if (sleeps) look_for_deadlock();
    auto until = sleeps && ready.empty() ? timers.next_wake() : time_point::min();
    if (shared != nullptr && sleeps && shared->keeps_watch(number)) [[unlikely]]
        until = std::min(until, saturating_add(now(), stealing::watch));
    if (watchdog != nullptr) [[unlikely]]
        pulse_.rests();
    auto const count = driver_->poll(events_, until);
    if (shared != nullptr && sleeps) [[unlikely]]
        shared->rise(number, ready, count != 0);
    ++turn_;
    if (observer != nullptr) [[unlikely]]
        observer->before_delivery(turn_);
    auto const polled_before = std::exchange(polled_at_, now());
    lane_.polled(saturating_difference(polled_at_, polled_before));
    if (recorder != nullptr) recorder->set_time(polled_at_);
    deliver(count);
    auto const fired = timers.expire(polled_at_, timers_per_turn);
    if (fired != 0 && recorder != nullptr)
        recorder->note(flight_kind::timers, static_cast<std::int64_t>(fired));
    if (count != 0 || fired != 0)
        resumes_between_polls_ = resumes_min;
    else if (resumes_between_polls_ < resumes_max)
        resumes_between_polls_ *= 2;
}

bool worker::is_to_sleep_among_others(bool const may_wait) noexcept {
    if (!ready.empty()) {
        shared->take_with_the_poll(number, ready);
        return false;
    }
    if (may_wait) return !shared->find_or_fall_asleep(number, ready);
    if (!shared->take(number, ready)) (void)shared->steal(number, ready); // it is driven by steps
    return false;
}

void worker::deliver(std::size_t const count) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
        if (recorder != nullptr) recorder->note(events_[i]);
        events_[i].op->on_event(*events_[i].op, events_[i]);
    }
}

void worker::look_for_deadlock() noexcept {
    if (!options_.is_closed_world || timers.next_wake() != never) return;
    if (operations != 0 || foreign != 0 || away != 0) return;
    if (observer != nullptr) return observer->on_deadlock();
    check(false, "deadlock: every task waits, and nothing is left that could wake one");
}

void worker::on_watched_suspended(continuation& leaf) noexcept {
    if (observer != nullptr) observer->on_suspended(leaf);
}

void worker::on_watched_completed(continuation& leaf) noexcept {
    if (observer != nullptr) observer->on_completed(leaf);
}

void worker::lost_error(std::exception_ptr error) noexcept {
    if (observer != nullptr && observer->expects_lost_error(error)) return;
    if (options_.on_lost_error) return options_.on_lost_error(std::move(error));
    lost_errors_.tell(std::move(error), now());
}

auto worker::find_buffers() noexcept -> buffer_pool* {
    if (!std::exchange(has_looked_for_buffers_, true))
        buffers_ =
            buffer_pool::make(*driver_, std::min<std::uint32_t>(options_.pool_buffers, pool_buffers_max),
                              options_.pool_buffer_bytes);
    return buffers_.get();
}

void worker::log(std::string_view const line) noexcept {
    if (options_.on_log) return options_.on_log(line);
    std::fprintf(stderr, "pitsaw: %.*s\n", static_cast<int>(line.size()), line.data());
}

} // namespace pitsaw::inline v0
