#pragma once
#include <pitsaw/task/child.hpp>
#include <pitsaw/task/masked_scope.hpp>

#include <coroutine>
#include <exception>
#include <system_error>
#include <type_traits>
#include <utility>
#include <variant>

namespace pitsaw::inline v0 {

/// A resource that ends asynchronously.
template <class R>
concept async_closable = std::move_constructible<R> && requires(R& resource) {
    { resource.async_close() } -> awaitable;
};

/// Closes a resource: a coroutine, so that its frame exists before it is needed.
template <async_closable R> task<> close_of(R& resource) {
    using result = child_value<decltype(resource.async_close())>;
    if constexpr (is_expected<result>) {
        auto closed = co_await resource.async_close();
        if (!closed.has_value()) throw std::system_error(closed.error(), "async_close failed");
    } else {
        co_await resource.async_close();
    }
}

template <class R, class Body> class [[nodiscard]] with_awaiter : inner_boundary {
    using body_type = std::invoke_result_t<Body&, R&>;
    static_assert(is_task<body_type>,
                  "with(resource, body): body takes the resource by reference and returns a task");
    using value_type = typename body_type::value_type;

  public:
    with_awaiter(R&& resource, Body&& body, duration close_time)
        : inner_boundary(body_ended), resource_(std::move(resource)), body_(std::move(body)),
          closing_(close_of(resource_)), work_(body_(resource_)), close_time_(close_time) {}

    [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept {
        enter(header);
        auto& promise = work_.startable().promise();
        promise.begin_chain(*this, *header.env, &header);
        work_promise_ = &promise;
        return transfer(promise);
    }

    value_type await_resume() {
        if constexpr (is_expected<value_type>)
            if (failed_with_.has_value()) return failed_with_.take();
        return work_promise_->result.take();
    }

  private:
    static std::coroutine_handle<> body_ended(boundary& edge, promise_header&, ending const how) noexcept {
        auto& self = static_cast<with_awaiter&>(edge);
        auto& outer = self.outer();
        self.ending_ = how;
        outer.edge->waiting = nullptr;         // from here on the stop is masked
        outer.env->executor->current = &outer; // the frames that go now are nobody's stack any more
        if (how == ending::stopped)
            self.work_ = body_type(); // its locals go before what they refer to is closed
        if constexpr (is_expected<value_type>) {
            if (how == ending::value && self.work_promise_->result.is_failure()) { // or_return: likewise
                self.failed_with_.set_value(self.work_promise_->result.take());
                self.work_ = body_type();
            }
        }
        auto& closing = self.closing_.startable().promise();
        self.closing_promise_ = &closing;
        return self.close_scope_.begin(closing, outer, self.close_time_);
    }

    static std::coroutine_handle<> closed(boundary& edge, promise_header&, ending const how) noexcept {
        auto& scope = static_cast<close_scope&>(edge);
        auto& self = *scope.owner;
        scope.finish(how, self.closing_promise_->result.exception());
        return self.ending_ == ending::stopped ? self.outer().stop_here() : transfer(self.outer());
    }

    struct close_scope : masked_scope {
        explicit close_scope(with_awaiter* self) noexcept : masked_scope(closed), owner(self) {}
        with_awaiter* owner;
    };

    R resource_;
    Body body_;
    close_scope close_scope_{this}; ///< outlives `closing_`, whose frame may hold callbacks of its stop
    task<> closing_;
    body_type work_;
    duration close_time_;
    task_promise<value_type>* work_promise_ = nullptr; ///< of `work_`, once started
    task_promise<void>* closing_promise_ = nullptr;    ///< of `closing_`, once started
    [[no_unique_address]] std::conditional_t<is_expected<value_type>, result_slot<value_type>, std::monostate>
        failed_with_; ///< the body's result if that is an error
    ending ending_ = ending::value;
};

/// Owns `resource`, runs `body(resource)`, then `resource.async_close()` whatever the ending, then destroys
/// it.
///
/// ```cpp
/// co_await ps::with(std::move(link), [](connection& c) -> ps::task<> { co_await talk(c); });
/// ```
/// Lifetime: the scope owns resource and body, so nothing can dangle; on a stop the body's locals are
/// destroyed before the close. The body's frame and the scope's own are made here; that of `async_close` when
/// it is called, so without memory then it is a close that fails. If `body(resource)` itself throws, nothing
/// has begun and the resource is destroyed unclosed. Threads: the task's worker. Errors: the body's are
/// passed on; a close that fails goes to `on_lost_error`. Stopping: a boundary: it delivers what the body
/// completed, else stops after the close. The close is masked and has `close_time` from its own start.
template <async_closable R, class Body>
    requires std::is_rvalue_reference_v<R&&>
[[nodiscard]] auto with(R&& resource, Body body, duration const close_time = cleanup_time_max) {
    return with_awaiter<R, Body>(std::move(resource), std::move(body), close_time);
}

} // namespace pitsaw::inline v0
