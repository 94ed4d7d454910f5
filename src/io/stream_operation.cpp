#include <pitsaw/io/stream_operation.hpp>

#include <pitsaw/io/driver.hpp>

#include <memory>
#include <new>
#include <system_error>
#include <utility>

namespace pitsaw::inline v0 {
namespace {

constexpr std::uint32_t heap_bytes = 4096; // where there is no pool

auto buffer_bytes_of(buffer_pool const& pool) noexcept -> std::uint32_t {
    return static_cast<std::uint32_t>(pool.bytes_of(0).size());
}

} // namespace

pooled_receive_operation::~pooled_receive_operation() {
    if (from_ == nullptr)
        delete[] static_cast<std::byte*>(address);
    else if (has_ended() && has(flags_, event_flag::pooled))
        from_->give_back(buffer_);
}

bool pooled_receive_operation::use_heap(std::uint32_t const bytes) noexcept {
    options = op_option::none;
    from_ = nullptr;
    address = new (std::nothrow) std::byte[bytes];
    length = bytes;
    if (address != nullptr) return true;
    note({.op = this, .result = -static_cast<std::int32_t>(std::errc::not_enough_memory)});
    return false;
}

bool pooled_receive_operation::found_empty(event const& done) const noexcept {
    return from_ != nullptr && done.result < 0 && to_error(done.result) == std::errc::no_buffer_space;
}

std::coroutine_handle<> pooled_receive_operation::start(promise_header& header) noexcept {
    if (header.env->stop.stop_requested()) return header.stop_here();
    auto& worker = *header.env->executor;
    from_ = worker.find_buffers();
    if (from_ != nullptr) {
        options = op_option::pooled;
        pool = from_->number();
    } else if (!use_heap(heap_bytes)) {
        return go_on(header);
    }
    event done;
    bool is_done = worker.io->attempt(*this, done);
    if (is_done && found_empty(done)) {
        if (!use_heap(buffer_bytes_of(*from_))) return go_on(header);
        is_done = worker.io->attempt(*this, done);
    }
    if (!is_done) return submit_for(header);
    worker.note_attempt(done);
    note(done);
    return go_on(header);
}

void pooled_receive_operation::arrived(operation& self, event const& done) noexcept {
    auto& leaf = static_cast<pooled_receive_operation&>(self);
    if (!leaf.found_empty(done)) return ended(self, done);
    // What there was to receive is still there, so it may be asked for again, or left to a later call.
    auto& env = *leaf.header_->env;
    if (env.stop.stop_requested())
        return ended(self,
                     {.op = &leaf, .result = -static_cast<std::int32_t>(std::errc::operation_canceled)});
    if (!leaf.use_heap(buffer_bytes_of(*leaf.from_))) return ended(self, leaf.done());
    env.executor->io->submit(leaf);
}

lease pooled_receive_operation::value() noexcept {
    auto const size = static_cast<std::uint32_t>(result_);
    if (has(flags_, event_flag::pooled)) {
        flags_ = event_flag::none; // the lease has it
        return lease(*from_, buffer_, size);
    }
    if (size == 0) return lease();
    return lease(std::unique_ptr<std::byte[]>(static_cast<std::byte*>(std::exchange(address, nullptr))),
                 size);
}

} // namespace pitsaw::inline v0
