#include <pitsaw/scope/task_group.hpp>

#include <pitsaw/base/exception_from.hpp>

#include <utility>

namespace pitsaw::inline v0 {

task_group::task_group(task_group_options const options, bool const body_has_default) noexcept
    : stop_scope(asked), options_(options), body_has_default_(body_has_default),
      stop_from_afar_(stop_arrived, this) {}

void task_group::begin(promise_header& header) noexcept {
    check(options_.children_max != 0, "task_group_options::children_max is at least 1");
    open(header);
    pending_ = 1; // the body
}

void task_group::require_running() const noexcept {
    check(outer != nullptr, "a task_group was used before it runs: make the body a coroutine");
    check(pending_ != 0,
          "a task_group was used that has ended: let nothing that spawns outlive its children");
    check(current_executor() == &on(),
          "a task_group was used from another thread: that needs a portal, opened on the group's worker");
}

void task_group::require_room() const {
    require_running();
    if (is_full())
        throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again),
                                "task_group::spawn: children_max are alive; co_await group.room() first");
}

void task_group::take_in(group_child& node) noexcept {
    children_.push_back(node);
    ++alive_;
    ++pending_;
}

void task_group::adopt(group_child& node, promise_header& root) noexcept {
    root.begin_chain(node, env, outer);
    take_in(node);
    on().ready.push(root, resume_as::coroutine, env.level);
}

void group_child::note_failed(group_child& node, child_failure failure) noexcept {
    if (failure.is_one()) node.group->note_failure(std::move(failure.exception), failure.error, false);
}

void group_child::note_ended(group_child& node, ending const how) noexcept {
    auto& of = *node.group;
    of.on().current = of.outer; // the frames that go next are nobody's stack any more
    if (how == ending::stopped) of.note_stopped(false);
    intrusive_list<group_child>::unlink(node);
    --of.alive_;
    of.grant_room();
}

std::coroutine_handle<> group_child::leave(task_group& of) noexcept { return of.leave(); }

void task_group::note_failure(std::exception_ptr exception, std::error_code const error,
                              bool const is_body) noexcept {
    bool const is_first = exception_ == nullptr && !error_ && !body_failed_;
    if (is_first && (is_body || options_.policy == on_failure::stop_others)) {
        body_failed_ = is_body; // its result says how
        if (!is_body) {
            exception_ = std::move(exception);
            error_ = error;
        }
        source.request_stop(stop_reason::sibling_failed);
        stop_children();
        return;
    }
    if (exception == nullptr)
        exception =
            exception_from([error] { return std::system_error(error, "a child of a task_group failed"); });
    on().lost_error(std::move(exception));
}

void task_group::note_stopped(bool const is_body) noexcept {
    (is_body ? body_stopped_ : any_stopped_) = true;
    if (source.stop_requested() || (!is_body && options_.policy == on_failure::keep_others)) return;
    // Nobody asked: it stopped by itself, and the group cannot deliver any more.
    has_stopped_by_itself_ = true;
    source.request_stop(stop_reason::sibling_failed);
    stop_children();
}

void task_group::body_ended(ending const how) noexcept {
    body_ = nullptr;
    if (how == ending::stopped) note_stopped(true);
}

std::coroutine_handle<> task_group::leave() noexcept {
    if (--pending_ != 0) return std::noop_coroutine();
    // A stop may be on its way from another thread; then its arrival ends the group.
    if (stop_from_afar_.close()) return end();
    ++on().foreign;
    return std::noop_coroutine();
}

std::coroutine_handle<> task_group::end() noexcept {
    bool const has_failed = exception_ != nullptr || error_ || body_failed_;
    bool const is_stopped_from_above = outer->env->stop.stop_requested();
    if (!has_failed) {
        if (has_stopped_by_itself_) return close_stopped();
        if (is_stopped_from_above && (any_stopped_ || body_stopped_)) return close_stopped();
        if (body_stopped_ && !body_has_default_) return close_stopped();
    }
    delivers_default_ = body_stopped_;
    return close();
}

void task_group::request_stop(stop_reason const why) noexcept {
    // No more than this may be read here: from another thread the rest is the worker's.
    check(outer != nullptr, "a task_group was stopped before it runs: make the body a coroutine");
    auto& worker = on();
    if (current_executor() == &worker) {
        source.request_stop(why);
        stop_children();
    } else if (stop_from_afar_.begin()) {
        // Until the node has arrived the group cannot end; sending it is the last use of the group here.
        source.request_stop(why);
        stop_from_afar_.send(worker);
    }
}

void task_group::stop_children() noexcept {
    if (body_ != nullptr) body_->ask_to_stop();
    for (auto& child : children_) child.ask_to_stop();
}

void task_group::asked(waiter& self) noexcept {
    auto& group = static_cast<task_group&>(self);
    group.source.request_stop(group.outer->env->stop.reason());
    group.stop_children();
}

void task_group::stop_arrived(void* const self, bool const is_closed) noexcept {
    auto& group = *static_cast<task_group*>(self);
    if (!is_closed) return group.stop_children();
    --group.on().foreign;
    group.end().resume();
}

void task_group::grant_room() noexcept {
    if (alive_ + granted_ >= options_.children_max) return;
    auto* const first = wanting_room_.pop_front();
    if (first == nullptr) return;
    ++granted_;
    first->header_->complete_here();
}

// Who had room granted has its turn, and may not spawn after all: look once more after that.
void task_group::look_for_room_again() noexcept {
    if (wanting_room_.empty() || is_looking_again_) return;
    is_looking_again_ = true;
    ++pending_;
    on().ready.push(look_again_.node, resume_as::callback, env.level);
}

void task_group::looks_again(void* const where) {
    auto& group = *static_cast<look_again_frame*>(where)->group;
    group.is_looking_again_ = false;
    group.grant_room();
    group.leave().resume();
}

std::coroutine_handle<> room_awaiter::start(promise_header& header) noexcept {
    group_.require_running();
    if (header.env->stop.stop_requested()) return header.stop_here();
    auto const taken = group_.alive_ + group_.granted_;
    header_ = &header;
    if (taken < group_.options_.children_max && group_.wanting_room_.empty()) {
        ++group_.granted_; // the transfer may have to queue, and then another one asks before this goes on
        return transfer(header);
    }
    group_.wanting_room_.push_back(*this);
    return header.suspend_at(*this);
}

void room_awaiter::withdrawn(waiter& self) noexcept {
    auto& room = static_cast<room_awaiter&>(self);
    intrusive_list<room_awaiter>::unlink(room);
    room.header_->stop_here();
}

void room_awaiter::await_resume() noexcept {
    --group_.granted_;
    group_.look_for_room_again();
}

} // namespace pitsaw::inline v0
