#pragma once
#include <pitsaw/base/atomic.hpp>
#include <pitsaw/base/intrusive_list.hpp>
#include <pitsaw/executor/continuation.hpp>
#include <pitsaw/executor/ready_levels.hpp>

#include <array>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>

namespace pitsaw::inline v0 {

class compute_lane;
class fork_point;

/// The promise of a computation, as those see it who run it. 24 bytes.
///
/// Threads: those of the lane that it runs on, which may become another one at each of its awaits.
class fork_child {
  public:
    fork_child() = default;
    fork_child(fork_child&&) = delete;

    [[nodiscard]] std::coroutine_handle<> handle() noexcept {
        return std::coroutine_handle<>::from_address(reinterpret_cast<std::byte*>(this) -
                                                     continuation::frame_prefix);
    }

    fork_point* at = nullptr;     ///< who waits for it: set before it begins
    compute_lane* lane = nullptr; ///< who runs it
    bool is_open = false;         ///< since it began, what comes after it has been to be had by others
};

/// A whole computation, as those see it who run its parts.
///
/// Lifetime: its leaf's, which waits for `ended`. Threads: any lane's.
class compute_root : public intrusive_list_node {
  public:
    /// Nothing of it runs any more; the last use of it. On the worker where its last part has ended.
    virtual void ended() noexcept = 0;

    /// From any thread: its parts are not to begin any more.
    void ask_to_stop() noexcept { is_stopping_.store(true, std::memory_order_relaxed); }
    [[nodiscard]] bool is_stopping() const noexcept { return is_stopping_.load(std::memory_order_relaxed); }
    [[nodiscard]] priority level() const noexcept { return level_; }
    [[nodiscard]] fork_point& entrance() const noexcept { return *entrance_; }

  protected:
    compute_root() = default;
    ~compute_root() = default;

    void set_entrance(fork_point& first, priority of) noexcept {
        entrance_ = &first;
        level_ = of;
    }

  private:
    fork_point* entrance_ = nullptr; ///< set before it begins, as the next
    priority level_ = priority::normal;
    detail::atomic<bool> is_stopping_ = false; // relaxed: nothing else is told by it
};

/// Where a worker runs its part of a computation: what has begun here and goes on later, the newest last.
///
/// Who forks puts down where the rest begins, runs the first child and takes the rest up again behind it,
/// so one worker alone goes through a computation in the order of the source. Of all that is put down the
/// oldest stands in the open, where any worker with nothing to do may take it: the oldest is the largest
/// part. The rest is this worker's own, and putting it down and taking it up again are plain reads and
/// writes. Whenever the place in the open has become free, the next oldest is laid there.
///
/// A lane runs one part at a time, in turns: after `hops_max` transfers, or fewer where they take long, its
/// worker sees to its other tasks, its timers and its driver.
///
/// Lifetime: its worker's. Threads: its worker's, but `take_open`. Errors: none; what there is no room for
/// is not to be had by others, and runs all the same. Size: 2 KiB.
class compute_lane {
  public:
    static constexpr std::uint32_t size_max = 256;
    static constexpr std::int32_t hops_max = 256;

    compute_lane() = default;
    compute_lane(compute_lane&&) = delete;

    /// Puts down where others may go on, while a child runs. False: there is no room, or nobody else.
    [[nodiscard]] bool put_down(fork_point& rest) noexcept {
        if (end_ - begin_ >= room_) [[unlikely]]
            return false;
        put_down_[end_++ % size_max] = &rest;
        if (open_.load(std::memory_order_relaxed) == nullptr)
            lay_open(); // relaxed: who took it needs nothing
        return true;
    }

    /// Takes the newest up again. False: somebody else has it.
    [[nodiscard]] bool take_up() noexcept {
        if (begin_ == end_) // relaxed: what stands in the open, if anything, has been written by us
            return open_.exchange(nullptr, std::memory_order_relaxed) != nullptr;
        --end_;
        if (begin_ != end_ && open_.load(std::memory_order_relaxed) == nullptr) lay_open();
        return true;
    }

    /// For a thief: the oldest, or null.
    [[nodiscard]] fork_point* take_open() noexcept {
        if (open_.load(std::memory_order_relaxed) == nullptr) return nullptr; // who searches asks again
        return open_.exchange(nullptr, std::memory_order_acquire);            // pairs with lay_open()
    }

    /// Passes control to `next`: at once, or in the lane's next turn.
    [[nodiscard]] std::coroutine_handle<> transfer(fork_child& next) noexcept {
        if (--hops_left_ > 0) [[likely]]
            return next.handle();
        return postpone(next);
    }
    [[nodiscard]] std::coroutine_handle<> postpone(fork_child& next) noexcept {
        next_ = &next;
        return std::noop_coroutine();
    }

    [[nodiscard]] compute_root* root() const noexcept { return root_; }

    /// Begins a computation, at once or behind those that have begun here. From its worker.
    virtual void begin(compute_root& computation) noexcept = 0;

    /// Takes back one that has not begun. False: it has, here or elsewhere. From its worker.
    [[nodiscard]] virtual bool withdraw(compute_root& computation) noexcept = 0;

  protected:
    ~compute_lane() = default;

    virtual void opened() noexcept = 0; ///< something stands in the open

    std::int32_t hops_left_ = 0;
    std::uint32_t room_ = 0;       ///< none while there is nobody who could take anything
    fork_child* next_ = nullptr;   ///< what the next turn begins with
    compute_root* root_ = nullptr; ///< of what runs here
    std::uint32_t begin_ = 0;
    std::uint32_t end_ = 0;
    std::array<fork_point*, size_max> put_down_;
    alignas(64) detail::atomic<fork_point*> open_ = nullptr; ///< its worker lays it there, anybody takes it

  private:
    [[gnu::noinline]] void lay_open() noexcept {
        // seq_cst, for idle_workers: this, then the look at who sleeps. As a release: with take_open().
        open_.store(put_down_[begin_++ % size_max], std::memory_order_seq_cst);
        opened();
    }
};

/// Where one computation waits for others: `fork_join`, or a plain await of one.
///
/// | word      | written by                                                                     |
/// |-----------|--------------------------------------------------------------------------------|
/// | `next_`   | who begins the next child: one at a time, from hand to hand by `compute_lane`  |
/// | `steals_` | the same, when it has been taken from another lane                             |
/// | `left_`   | who has ended a child and finds that the rest has been taken: counts it        |
///
/// `left_` begins at `many`, from which the ends of stolen parts count down. Who ends the last child knows
/// how many there have been, and takes off all but these: of the two who are the last to count, one finds
/// zero and goes on. Where nothing was stolen nothing is counted.
///
/// Lifetime: the awaiter's, in the frame of the computation that waits. Threads: as above. Errors: the
/// children's are in their results; after one, or a stop, no more children begin.
class fork_point {
  public:
    fork_point(fork_point&&) = delete;

    /// A child has ended, whose frame has gone; returns what runs next on `lane`.
    [[nodiscard]] std::coroutine_handle<> child_ended(compute_lane& lane, bool const was_open) noexcept {
        if (was_open && !lane.take_up()) [[unlikely]]
            return stolen_part_ended(lane);
        return go_on(lane);
    }

    /// Begins the next child, or ends. By who has it: from `child_ended`, or having taken it.
    [[nodiscard]] std::coroutine_handle<> go_on(compute_lane& lane) noexcept {
        if (next_ != count_ && !is_failing()) {
            if (auto* const child = child_(*this, next_)) [[likely]]
                return begin(*child, lane);
        }
        if (steals_ != 0) [[unlikely]]
            return last_part_ended(lane);
        return all_ended(lane);
    }

    /// From another lane, which goes on with it.
    void was_stolen() noexcept { ++steals_; }

    /// A child has been stopped: no more of them begin.
    void fail() noexcept { is_failing_.store(true, std::memory_order_relaxed); } // left_ publishes it
    /// A child has ended with an exception, of which the first is kept.
    void fail(std::exception_ptr what) noexcept;
    [[nodiscard]] bool is_failing() const noexcept { return is_failing_.load(std::memory_order_relaxed); }

    [[nodiscard]] compute_root& root() const noexcept { return *root_; }

  protected:
    /// Returns child `number`, with its place for a result; null: it could not be made, and `fail` was
    /// called.
    using child_maker = fork_child* (*)(fork_point& self, std::uint32_t number) noexcept;

    fork_point(child_maker child, std::uint32_t count) noexcept : child_(child), count_(count) {}
    ~fork_point() = default;

    /// Begins the first child, for `waiting`, which is suspended.
    [[nodiscard]] std::coroutine_handle<> start(fork_child& waiting) noexcept {
        waiting_ = &waiting;
        root_ = waiting.lane->root();
        return go_on(*waiting.lane);
    }
    /// Instead of `start`: it is where a whole computation begins.
    void enter(compute_root& whole) noexcept { root_ = &whole; }
    /// When all that have begun have ended.
    void rethrow_failure() const {
        if (error_ != nullptr) [[unlikely]]
            std::rethrow_exception(error_);
    }
    [[nodiscard]] std::exception_ptr const& failure() const noexcept { return error_; }
    [[nodiscard]] bool has_begun(std::uint32_t const number) const noexcept { return number < next_; }

  private:
    std::coroutine_handle<> begin(fork_child& child, compute_lane& lane) noexcept {
        child.at = this;
        child.lane = &lane;
        child.is_open = ++next_ != count_ && lane.put_down(*this); // it may be somebody else's from here on
        return lane.transfer(child);
    }

    [[nodiscard]] std::coroutine_handle<> all_ended(compute_lane& lane) noexcept {
        if (waiting_ == nullptr || is_failing()) [[unlikely]]
            return all_ended_or_failed(lane);
        waiting_->lane = &lane;
        return lane.transfer(*waiting_);
    }

    [[nodiscard, gnu::cold]] std::coroutine_handle<> all_ended_or_failed(compute_lane& lane) noexcept;
    [[nodiscard, gnu::cold]] std::coroutine_handle<> stolen_part_ended(compute_lane& lane) noexcept;
    [[nodiscard, gnu::cold]] std::coroutine_handle<> last_part_ended(compute_lane& lane) noexcept;

    static constexpr std::uint32_t many = 1U << 31;

    child_maker child_;
    fork_child* waiting_ = nullptr; ///< null: it is the entrance of a whole computation
    compute_root* root_ = nullptr;
    std::uint32_t count_;
    std::uint32_t next_ = 0;
    std::uint32_t steals_ = 0;
    detail::atomic<std::uint32_t> left_ = many;
    detail::atomic<bool> is_failing_ = false; // relaxed, as the next: `left_` publishes
    detail::atomic<bool> has_error_ = false;
    std::exception_ptr error_; ///< whoever sets has_error_ first
};

} // namespace pitsaw::inline v0
