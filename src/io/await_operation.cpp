#include <pitsaw/io/await_operation.hpp>

#include <pitsaw/base/check.hpp>
#include <pitsaw/io/driver.hpp>
#include <pitsaw/io/result.hpp>

#include <system_error>

namespace pitsaw::inline v0 {

std::coroutine_handle<> operation_leaf::start(promise_header& header) noexcept {
    if (header.env->stop.stop_requested()) return header.stop_here();
    auto& worker = *header.env->executor;
    if (worker.io->attempt(*this, done_)) return transfer(header);
    header_ = &header;
    ++worker.operations;
    worker.io->submit(*this);
    return header.suspend_at(*this);
}

void operation_leaf::ended(operation& self, event const& done) noexcept {
    check(done.is_final(),
          "an operation_leaf waits for one event: a multishot operation needs a leaf of its own");
    auto& leaf = static_cast<operation_leaf&>(self);
    auto& header = *leaf.header_;
    --header.env->executor->operations;
    leaf.done_ = done;
    bool const is_cancelled = done.result < 0 && to_error(done.result) == std::errc::operation_canceled;
    if (is_cancelled && header.env->stop.stop_requested())
        header.stop_here();
    else
        header.complete_here();
}

void operation_leaf::cancelled(waiter& self) noexcept {
    auto& leaf = static_cast<operation_leaf&>(self);
    leaf.header_->env->executor->io->cancel(leaf);
}

} // namespace pitsaw::inline v0
