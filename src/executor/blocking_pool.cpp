#include <pitsaw/executor/blocking_pool.hpp>

#include "os/linux/cpu_affinity.hpp"
#include "os/linux/thread_name.hpp"
#include "os/posix/thread.hpp"

#include <pitsaw/base/check.hpp>
#include <pitsaw/executor/executor_ref.hpp>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

// What holds whenever the lock is free, so that no job is forgotten:
// - Each job that waits has a thread that will look for it: one that runs a job looks again when that has
//   ended, an idle one was notified, and one that is being started looks first of all.
// - A thread leaves only where no job waits. A start that fails lets jobs wait only where another thread
//   is, or is being started by somebody else.

namespace pitsaw::inline v0 {

struct blocking_pool::parts {
    explicit parts(blocking_options how);

    /// Whether so many wait already, beside those that a free thread is about to take, and no thread can be
    /// added.
    [[nodiscard]] bool is_full() const noexcept {
        return threads + starting >= options.threads_max &&
               waiting >= std::size_t{options.waiting_max} + idle + starting;
    }
    void start_a_thread() noexcept;
    static void serve(void* pool) noexcept;
    [[nodiscard]] bool wait_for_a_job(std::unique_lock<std::mutex>& lock) noexcept;
    void run_first(std::unique_lock<std::mutex>& lock) noexcept;
    void leave(std::unique_lock<std::mutex>& lock) noexcept;

    blocking_options const options;
    cpu_mask where; ///< set once: the processors of who made the pool
    bool knows_where = false;

    mutable std::mutex mutex; ///< of what follows; nothing is called while it is held
    std::condition_variable has_work;
    std::condition_variable has_changed; ///< for the destructor
    intrusive_list<blocking_job> jobs;   ///< in their order; the first `waiting_max` were taken in
    std::size_t waiting = 0;             ///< their number
    std::uint32_t threads = 0;
    std::uint32_t starting = 0; ///< threads that somebody is about to make, or that have not begun
    std::uint32_t idle = 0;     ///< of `threads`: they wait for a job
    std::uint32_t running = 0;  ///< of `threads`: they are in a job
    bool is_over = false;
    thread_end last_gone; ///< each that leaves waits for the end of the one before
};

blocking_pool::parts::parts(blocking_options how) : options(std::move(how)) {
    auto const* const here = current_executor();
    if (here != nullptr && here->unpinned != nullptr) {
        where = *here->unpinned;
        knows_where = true;
    } else {
        knows_where = get_cpu_mask(where) == 0;
    }
}

blocking_pool::blocking_pool(blocking_options options) {
    if (options.threads_max == 0 || options.waiting_max == 0)
        throw std::system_error(std::make_error_code(std::errc::invalid_argument),
                                "blocking_options: threads_max and waiting_max are at least 1");
    parts_ = std::make_unique<parts>(std::move(options));
}

blocking_pool::~blocking_pool() {
    auto& all = *parts_;
    thread_end last;
    {
        std::unique_lock lock(all.mutex);
        check(all.jobs.empty() && all.running == 0,
              "a blocking pool was destroyed while a task awaits a job of it: let it outlive them");
        all.is_over = true;
        all.has_work.notify_all();
        all.has_changed.wait(lock, [&] { return all.threads + all.starting == 0; });
        last = all.last_gone;
    }
    last.wait();
}

auto blocking_pool::get_load() const noexcept -> load {
    std::lock_guard const lock(parts_->mutex);
    load now;
    now.threads = parts_->threads;
    now.running = parts_->running;
    now.waiting = std::min<std::size_t>(parts_->waiting, parts_->options.waiting_max);
    now.outside = parts_->waiting - now.waiting;
    return now;
}

blocking_options const& blocking_pool::options() const noexcept { return parts_->options; }

void blocking_pool::submit(blocking_job& job) noexcept {
    auto& all = *parts_;
    bool must_start = false;
    bool is_refused = false;
    {
        std::lock_guard const lock(all.mutex);
        is_refused = all.options.refuses_when_full && all.is_full();
        if (!is_refused) {
            all.jobs.push_back(job);
            ++all.waiting;
            must_start =
                all.waiting > all.idle + all.starting && all.threads + all.starting < all.options.threads_max;
            if (must_start) ++all.starting;
        }
    }
    if (is_refused) return job.ended(job, std::make_error_code(std::errc::resource_unavailable_try_again));
    if (must_start)
        all.start_a_thread();
    else
        all.has_work.notify_one();
}

bool blocking_pool::withdraw(blocking_job& job) noexcept {
    std::lock_guard const lock(parts_->mutex);
    if (!job.is_linked()) return false;
    intrusive_list<blocking_job>::unlink(job);
    --parts_->waiting;
    return true;
}

/// The system takes its time for a thread, so not under the lock.
void blocking_pool::parts::start_a_thread() noexcept {
    auto const result = start_thread(serve, this, options.stack_bytes);
    if (result == 0) return;
    std::unique_lock lock(mutex);
    --starting;
    while (threads + starting == 0 && !jobs.empty()) { // nobody is left who could run them
        auto& job = *jobs.pop_front();
        --waiting;
        lock.unlock();
        job.ended(job, std::error_code(-result, std::generic_category()));
        lock.lock();
    }
    if (threads + starting == 0) has_changed.notify_all();
}

void blocking_pool::parts::serve(void* const pool) noexcept {
    auto& all = *static_cast<parts*>(pool);
    set_thread_name(all.options.thread_name);
    if (all.knows_where) (void)set_cpu_mask(all.where); // it could be there then
    std::unique_lock lock(all.mutex);
    --all.starting;
    ++all.threads;
    while (all.wait_for_a_job(lock)) all.run_first(lock);
    all.leave(lock);
}

/// False: there is none, and the thread has waited for long enough.
bool blocking_pool::parts::wait_for_a_job(std::unique_lock<std::mutex>& lock) noexcept {
    if (!jobs.empty()) return true;
    auto const clock_now = std::chrono::steady_clock::now();
    auto const longest = std::chrono::steady_clock::time_point::max() - clock_now;
    auto const until = clock_now + std::min<std::chrono::nanoseconds>(options.idle_time, longest);
    ++idle;
    bool has_time = true;
    while (jobs.empty() && !is_over && has_time)
        has_time = has_work.wait_until(lock, until) == std::cv_status::no_timeout;
    --idle;
    return !jobs.empty();
}

void blocking_pool::parts::run_first(std::unique_lock<std::mutex>& lock) noexcept {
    auto& job = *jobs.pop_front();
    --waiting;
    ++running;
    lock.unlock();
    job.run(job);
    lock.lock();
    --running; // before the job's awaiter goes on, which may destroy the pool
    lock.unlock();
    job.ended(job, {});
    lock.lock();
}

void blocking_pool::parts::leave(std::unique_lock<std::mutex>& lock) noexcept {
    --threads;
    auto const before = std::exchange(last_gone, thread_end::of_this_thread());
    if (threads + starting == 0) has_changed.notify_all();
    lock.unlock();
    before.wait(); // it has left: nothing of the pool is touched here any more
}

} // namespace pitsaw::inline v0
