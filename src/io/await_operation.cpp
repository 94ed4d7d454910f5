#include <pitsaw/io/await_operation.hpp>

#include <pitsaw/base/check.hpp>
#include <pitsaw/io/driver.hpp>
#include <pitsaw/io/result.hpp>

#include <system_error>

namespace pitsaw::inline v0 {

template <class Operation>
std::coroutine_handle<> basic_operation_leaf<Operation>::start(promise_header& header) noexcept {
    if (header.env->stop.stop_requested()) return header.stop_here();
    event done;
    if (!header.env->executor->io->attempt(*this, done)) return submit_for(header);
    header.env->executor->note_attempt(done);
    note(done);
    return go_on(header);
}

template <class Operation>
std::coroutine_handle<> basic_operation_leaf<Operation>::go_on(promise_header& header) noexcept {
    if (result_ >= 0 || on_error_ == nullptr) return transfer(header);
    on_error_(header, to_error(result_));
    return std::noop_coroutine();
}

template <class Operation>
std::coroutine_handle<> basic_operation_leaf<Operation>::submit_for(promise_header& header) noexcept {
    auto& worker = *header.env->executor;
    header_ = &header;
    ++worker.operations;
    worker.io->submit(*this);
    return header.suspend_at(*this);
}

template <class Operation>
void basic_operation_leaf<Operation>::ended(operation& self, event const& done) noexcept {
    check(done.is_final(),
          "an operation_leaf waits for one event: a multishot operation needs a leaf of its own");
    auto& leaf = static_cast<basic_operation_leaf&>(static_cast<Operation&>(self));
    auto& header = *leaf.header_;
    --header.env->executor->operations;
    leaf.note(done);
    bool const is_cancelled = done.result < 0 && to_error(done.result) == std::errc::operation_canceled;
    if (is_cancelled && header.env->stop.stop_requested())
        header.stop_here();
    else if (done.result < 0 && leaf.on_error_ != nullptr)
        leaf.on_error_(header, to_error(done.result));
    else
        header.complete_here();
}

template <class Operation> void basic_operation_leaf<Operation>::cancelled(waiter& self) noexcept {
    auto& leaf = static_cast<basic_operation_leaf&>(self);
    leaf.header_->env->executor->io->cancel(leaf);
}

template class basic_operation_leaf<operation>;
template class basic_operation_leaf<wide_operation>;

} // namespace pitsaw::inline v0
