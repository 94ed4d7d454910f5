#include <pitsaw/io/stream_operation.hpp>

#include <pitsaw/io/driver.hpp>

#include <new>
#include <system_error>
#include <utility>

namespace pitsaw::inline v0 {
namespace {

constexpr std::uint32_t heap_bytes = 4096; // where there is no pool

} // namespace

pooled_receive_operation::~pooled_receive_operation() {
    if (has_ended() && has(done_.flags, event_flag::pooled)) from_->give_back(done_.buffer);
}

bool pooled_receive_operation::use_heap(std::uint32_t const bytes) noexcept {
    options = op_option::none;
    from_ = nullptr;
    heap_.reset(new (std::nothrow) std::byte[bytes]);
    if (heap_ == nullptr) {
        done_ = {.op = this, .result = -static_cast<std::int32_t>(std::errc::not_enough_memory)};
        return false;
    }
    set_buffer(*this, {heap_.get(), bytes});
    return true;
}

bool pooled_receive_operation::found_pool_empty() const noexcept {
    return from_ != nullptr && done_.result < 0 && to_error(done_.result) == std::errc::no_buffer_space;
}

std::coroutine_handle<> pooled_receive_operation::start(promise_header& header) noexcept {
    if (header.env->stop.stop_requested()) return header.stop_here();
    auto& worker = *header.env->executor;
    from_ = worker.find_buffers();
    if (from_ != nullptr) {
        options = op_option::pooled;
        pool = from_->number();
    } else if (!use_heap(heap_bytes)) {
        return transfer(header);
    }
    bool is_done = worker.io->attempt(*this, done_);
    if (is_done && found_pool_empty()) {
        auto const bytes = static_cast<std::uint32_t>(from_->bytes_of(0).size());
        is_done = !use_heap(bytes) || worker.io->attempt(*this, done_);
    }
    if (!is_done) return submit_for(header);
    done_.op = this;
    return transfer(header);
}

void pooled_receive_operation::arrived(operation& self, event const& done) noexcept {
    auto& leaf = static_cast<pooled_receive_operation&>(self);
    leaf.done_ = done;
    if (!leaf.found_pool_empty()) return ended(self, done);
    // What there was to receive is still there, so it may be asked for again, or left to a later call.
    auto& env = *leaf.header_->env;
    if (env.stop.stop_requested()) {
        leaf.done_ = {.op = &leaf, .result = -static_cast<std::int32_t>(std::errc::operation_canceled)};
        return ended(self, leaf.done_);
    }
    auto const bytes = static_cast<std::uint32_t>(leaf.from_->bytes_of(0).size());
    if (!leaf.use_heap(bytes)) return ended(self, leaf.done_);
    leaf.done_ = {};
    env.executor->io->submit(leaf);
}

io_result<lease> pooled_receive_operation::await_resume() noexcept {
    if (done_.result < 0) return std::unexpected(to_error(done_.result));
    auto const size = static_cast<std::uint32_t>(done_.result);
    if (has(done_.flags, event_flag::pooled)) {
        done_.flags = event_flag::none; // the lease has it
        return lease(*from_, done_.buffer, size);
    }
    if (size == 0) return lease();
    return lease(std::move(heap_), size);
}

} // namespace pitsaw::inline v0
