#include <pitsaw/task/masked_scope.hpp>

#include <pitsaw/base/exception_from.hpp>

#include <system_error>

namespace pitsaw::inline v0 {

std::coroutine_handle<> masked_scope::begin(promise_header& first, promise_header& by,
                                            duration const limit) noexcept {
    masked_ = *by.env;
    masked_.stop = source_.get_token();
    auto& worker = *masked_.executor;
    timer_node::deadline = saturating_add(worker.now(), limit);
    worker.timers.arm(*this);
    first.begin_chain(*this, masked_, &by);
    return transfer(first);
}

void masked_scope::finish(ending const how, std::exception_ptr failure) noexcept {
    auto& worker = *masked_.executor;
    worker.timers.disarm(*this);
    if (failure != nullptr) {
        worker.lost_error(std::move(failure));
    } else if (how == ending::stopped) {
        worker.lost_error(exception_from([] {
            return std::system_error(std::make_error_code(std::errc::timed_out),
                                     "a clean-up was stopped at its deadline");
        }));
    }
}

void masked_scope::expired(timer_node& self) noexcept {
    auto& scope = static_cast<masked_scope&>(self);
    scope.source_.request_stop(stop_reason::timeout);
    scope.ask_to_stop();
}

} // namespace pitsaw::inline v0
