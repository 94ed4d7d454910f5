#pragma once
#include <pitsaw/base/intrusive_list.hpp>
#include <pitsaw/executor/remote_ask.hpp>
#include <pitsaw/scope/away_child.hpp>
#include <pitsaw/scope/group_child.hpp>
#include <pitsaw/scope/stop_scope.hpp>
#include <pitsaw/task/child.hpp>

#include <coroutine>
#include <cstdint>
#include <exception>
#include <system_error>
#include <type_traits>
#include <utility>
#include <variant>

namespace pitsaw::inline v0 {

/// What a failing child means for its siblings.
enum class on_failure : std::uint8_t {
    stop_others, ///< it stops them, and is the group's failure
    keep_others, ///< it goes to `on_lost_error`, and they go on: a supervisor
};

struct task_group_options {
    static constexpr std::uint32_t unbounded = UINT32_MAX;

    on_failure policy = on_failure::stop_others;
    std::uint32_t children_max = unbounded; ///< alive at a time; see `task_group::room`
};
static_assert(std::is_trivially_copyable_v<task_group_options>); // so that it may stand beside a co_await

class portal;
class task_group;
template <class Body> class run_group_awaiter;

/// Waits for a free place in a bounded group.
class [[nodiscard]] room_awaiter : waiter, public intrusive_list_node {
  public:
    explicit room_awaiter(task_group& of) noexcept : waiter(withdrawn), group_(of) {}

    [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept;
    void await_resume() noexcept;

  private:
    friend class task_group;

    static void withdrawn(waiter& self) noexcept;

    task_group& group_;
    promise_header* header_ = nullptr; ///< set when it has to wait
};

/// A scope for a number of children that is not known beforehand. It is never a local: `run` makes it, and
/// ends after the last child has.
///
/// ```cpp
/// co_await ps::task_group::run(ps::on_failure::keep_others, [&](ps::task_group& clients) -> ps::task<> {
///     for (;;) clients.spawn(session(co_await next_client()));
/// });
/// ```
/// Lifetime: from the start of `run` to the end of its last child; children may hold a reference to it. They
/// may outlive the body, so they must not refer to its locals, only to what stands outside of `run`. Threads:
/// the worker's, except `request_stop`; foreign threads spawn through a `portal`. Errors: by `on_failure`; a
/// failure of the body always stops the children and is the group's. Stopping: a boundary, see `run`.
class task_group : stop_scope {
  public:
    using bound_to_worker = void; ///< see `transferable`

    task_group(task_group&&) = delete;

    /// Starts `work` as a child; it runs when its turn comes. A child's value is dropped, its failure is not.
    ///
    /// Errors: std::bad_alloc if there is no memory for the child's node, std::system_error
    /// (resource_unavailable_try_again) if `children_max` are alive. In both cases no child has started, the
    /// group and its children are as before, and `work` is destroyed without having run.
    template <class T> void spawn(task<T> work) {
        require_room();
        auto& node = group_node<T>::create(*this, env.memory, [&work] { return std::move(work); });
        adopt(node.child(), node.header());
    }

    /// The same with a callable, which the group owns until the child has ended, with copies of its
    /// arguments: the form for lambdas with captures.
    template <class F, class... Args>
        requires std::invocable<F&, Args...>
    void spawn(F work, Args... args) {
        using result = std::invoke_result_t<F&, Args...>;
        static_assert(is_task<result>, "task_group::spawn takes a task, or a callable that returns one");
        require_room();
        constexpr auto call = [](F& callable, Args&... owned) { return callable(std::move(owned)...); };
        auto& node = group_node<typename result::value_type, F, Args...>::create(
            *this, env.memory, call, std::move(work), std::move(args)...);
        adopt(node.child(), node.header());
    }

    /// The same on `on`, another worker of the same runtime or the own one: `work` is called there with the
    /// arguments, and all three are destroyed there when the child has ended, before it counts as ended here.
    ///
    /// What is given must be `transferable`. Errors: as `spawn`; what calling `work` throws is the child's
    /// failure, and an executor of another runtime is a checked error.
    template <class F, class... Args>
        requires task_call<F, Args...>
    void spawn_on(executor_ref const on, F work, Args... args) {
        require_room();
        auto& node = away_child<F, Args...>::create(*this, env.memory, std::move(work), std::move(args)...);
        take_in(node);
        node.depart(*on, env, *outer);
    }

    /// The same on whichever worker of the runtime takes it first: it is offered to all, this one included.
    /// Once begun it stays where it is. With `scheduling::per_core` that is always here.
    ///
    /// Offers begin in about the order in which they were made, and behind what is ready on the worker that
    /// takes them; a worker that runs on looks at them with each poll of its driver, so none waits for ever.
    template <class F, class... Args>
        requires task_call<F, Args...>
    void spawn_anywhere(F work, Args... args) {
        require_room();
        auto& node = away_child<F, Args...>::create(*this, env.memory, std::move(work), std::move(args)...);
        take_in(node);
        node.depart_anywhere(env, *outer);
    }

    /// Waits until fewer than `children_max` children are alive, first come, first served. Who spawns without
    /// waiting may come in between: with such spawners ask `is_full` again.
    ///
    /// ```cpp
    /// for (auto port : ports) { co_await group.room(); group.spawn(probe(port)); }
    /// ```
    [[nodiscard]] room_awaiter room() noexcept { return room_awaiter(*this); }

    [[nodiscard]] bool is_full() const noexcept { return alive_ >= options_.children_max; }

    /// How many children are alive, the body not counted.
    [[nodiscard]] std::uint32_t size() const noexcept { return alive_; }

    /// Stops the children and the body. From any thread. The group must be alive until the call returns,
    /// which an open portal sees to; only a stop that is the sole reason for its end may end it during the
    /// call. Of two threads that ask at a time the second may return before the first's stop is to be seen.
    void request_stop(stop_reason why = stop_reason::requested) noexcept;

    /// What the children's environment says.
    [[nodiscard]] inplace_stop_token get_stop_token() const noexcept { return source.get_token(); }

    /// A way in for other threads; the group does not end before it is closed. Errors: std::bad_alloc.
    [[nodiscard]] portal open_portal();

    /// Runs `body(group)` and waits for it and for every child.
    ///
    /// Gives what the body's task gives. Errors: the group's failure: an exception is rethrown; an error code
    /// is returned if the body's result can carry it, else thrown as std::system_error. Later failures go to
    /// `on_lost_error`. Stopping: a boundary. It delivers only when all completed, else it stops. A group
    /// that was stopped by its own `request_stop` delivers: the body's value, or if the body was stopped,
    /// `void`'s or an `io_result<void>`'s; a body of another type then stops. A child that stops though
    /// nobody asked (a leaf of another library) stops the group, except under `keep_others`. `body` must be a
    /// coroutine if it spawns.
    template <class Body> [[nodiscard]] static auto run(Body body) {
        return run(task_group_options(), std::move(body));
    }
    template <class Body> [[nodiscard]] static auto run(on_failure const policy, Body body) {
        task_group_options options;
        options.policy = policy;
        return run(options, std::move(body));
    }
    template <class Body> [[nodiscard]] static auto run(task_group_options const options, Body body) {
        return run_group_awaiter<Body>(options, std::move(body));
    }

  private:
    template <class Body> friend class run_group_awaiter;
    friend struct group_child;
    friend class room_awaiter;
    friend class portal;

    explicit task_group(task_group_options options, bool body_has_default) noexcept;

    /// A hand-made frame that runs once in the ready queue.
    struct look_again_frame {
        void (*resume)(void*) = looks_again;
        void (*destroy)(void*) = nothing_to_destroy;
        continuation node;
        task_group* group;

        explicit look_again_frame(task_group* of) noexcept : group(of) {}
    };

    void begin(promise_header& header) noexcept;
    void require_running() const noexcept;
    void require_room() const;
    void take_in(group_child& node) noexcept;
    void adopt(group_child& node, promise_header& root) noexcept;
    void note_failure(std::exception_ptr exception, std::error_code error, bool is_body) noexcept;
    void note_stopped(bool is_body) noexcept;
    void body_ended(ending how) noexcept;
    [[nodiscard]] std::coroutine_handle<> leave() noexcept;
    [[nodiscard]] std::coroutine_handle<> end() noexcept;
    void stop_children() noexcept;
    void grant_room() noexcept;
    void look_for_room_again() noexcept;

    static void asked(waiter& self) noexcept;
    static void stop_arrived(void* self, bool is_closed) noexcept;
    static void looks_again(void* where);
    static void nothing_to_destroy(void*) {}

    task_group_options options_;
    boundary* body_ = nullptr;             ///< while it runs
    intrusive_list<group_child> children_; ///< that run
    intrusive_list<room_awaiter> wanting_room_;
    std::uint32_t alive_ = 0;
    std::uint32_t pending_ = 0; ///< children, open portals, the body, and `look_again_` in the queue
    bool body_has_default_;     ///< `void` and `io_result<void>`
    bool body_stopped_ = false;
    bool body_failed_ = false; ///< the group's failure: what the body's result says,
    bool any_stopped_ = false;
    bool has_stopped_by_itself_ = false; ///< a child or the body, though nobody had asked
    bool delivers_default_ = false;      ///< decided at the end: there is no value of the body
    bool is_looking_again_ = false;
    std::uint32_t granted_ = 0;         ///< rooms given to waiters that have not had their turn
    std::exception_ptr exception_;      ///< or this,
    std::error_code error_;             ///< or this
    look_again_frame look_again_{this}; ///< grants room after a turn of one that had it granted
    remote_ask stop_from_afar_;
};

template <class Body> class [[nodiscard]] run_group_awaiter : boundary {
    using body_task = std::invoke_result_t<Body&, task_group&>;
    static_assert(is_task<body_task>,
                  "task_group::run takes a callable that takes a task_group& and returns a task");
    using value_type = typename body_task::value_type;
    static constexpr bool is_io_void = std::is_same_v<value_type, std::expected<void, std::error_code>>;

  public:
    run_group_awaiter(task_group_options options, Body&& body)
        : boundary(ended), body_(std::move(body)), group_(options, std::is_void_v<value_type> || is_io_void),
          work_(body_(group_)) {}

    [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept {
        group_.begin(header);
        group_.body_ = this;
        promise_ = &work_.startable().promise();
        promise_->begin_chain(*this, group_.env, &header);
        return transfer(*promise_);
    }

    value_type await_resume() {
        if (group_.exception_ != nullptr) std::rethrow_exception(group_.exception_);
        if (group_.error_) {
            if constexpr (carries_code)
                return std::unexpected(typename value_type::error_type(group_.error_));
            else
                throw std::system_error(group_.error_, "a child of a task_group failed");
        }
        if constexpr (std::is_void_v<value_type> || is_io_void)
            if (group_.delivers_default_) return value_type();
        if constexpr (is_expected<value_type>)
            if (!failed_with_.is_empty()) return failed_with_.take();
        return promise_->result.take();
    }

  private:
    static constexpr bool carries_code = [] {
        if constexpr (is_expected<value_type>)
            return std::is_constructible_v<typename value_type::error_type, std::error_code>;
        else
            return false;
    }();

    static std::coroutine_handle<> ended(boundary& edge, promise_header&, ending const how) noexcept {
        auto& self = static_cast<run_group_awaiter&>(edge);
        if (auto const failure = failure_of(self.promise_->result); failure.is_one())
            self.group_.note_failure(failure.exception, failure.error, true);
        // The frames that go now are nobody's stack any more.
        self.group_.on().current = self.group_.outer;
        if (how == ending::stopped) self.work_ = body_task(); // its locals go at once
        if constexpr (is_expected<value_type>) {
            // or_return leaves the body's locals alive, and a portal among them would keep the group from
            // ending.
            if (how == ending::value && self.promise_->result.is_failure()) {
                self.failed_with_.set_value_or_exception(std::move(self.promise_->result.value()));
                self.work_ = body_task();
            }
        }
        self.group_.body_ended(how);
        return self.group_.leave();
    }

    Body body_;
    task_group group_;
    body_task work_;
    task_promise<value_type>* promise_ = nullptr; ///< of `work_`, once started
    [[no_unique_address]] std::conditional_t<is_expected<value_type>, result_slot<value_type>, std::monostate>
        failed_with_; ///< the body's result if that is an error
};

} // namespace pitsaw::inline v0
