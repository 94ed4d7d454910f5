#include "loop/flight_recorder.hpp"

#include "driver/recording/driver.hpp"
#include "os/posix/guarded_mapping.hpp"

#include <pitsaw/executor/executor_ref.hpp>
#include <pitsaw/task/promise_header.hpp>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <new>
#include <source_location>

namespace pitsaw::inline v0 {
namespace {

constexpr std::uint32_t records_of_virtual_time = 128;

auto slots_for(recorder_options const& how) noexcept -> std::uint32_t {
    return std::bit_ceil(std::clamp(how.records, 2U, flight_header::records_max));
}

auto in_pages(std::size_t bytes) noexcept -> std::size_t {
    return (bytes + flight_header::bytes - 1) / flight_header::bytes * flight_header::bytes;
}

/// The header and the ring.
auto record_bytes(recorder_options const& how) noexcept -> std::size_t {
    return in_pages(flight_header::ring_at + std::size_t{slots_for(how)} * sizeof(flight_record));
}

auto input_bytes(recorder_options const& how) noexcept -> std::size_t {
    auto const room = flight_header::bytes_max - record_bytes(how);
    return in_pages(std::min(how.input_bytes, room));
}

auto begin_header(std::byte* at, recorder_options const& how, char const* driver) noexcept -> flight_header* {
    auto* const header = new (at) flight_header;
    header->records = slots_for(how);
    header->inputs_at = record_bytes(how);
    header->inputs_max = input_bytes(how);
    std::strncpy(header->driver.data(), driver, header->driver.size() - 1);
    return header;
}

/// The mapping's zeros are the words' first values: constructing them would touch every page.
auto slots_of(flight_header& header) noexcept -> flight_ring::word* {
    static_assert(sizeof(flight_ring::word) == sizeof(std::uint64_t));
    auto* const at = reinterpret_cast<std::byte*>(&header) + header.records_at;
    return std::launder(reinterpret_cast<flight_ring::word*>(at));
}

} // namespace

flight_recorder::flight_recorder(std::byte* const memory, std::size_t const mapped_bytes,
                                 recorder_options const& how, char const* const driver) noexcept
    : memory_(memory), mapped_bytes_(mapped_bytes),
      header_(begin_header(mapped_bytes == 0 ? memory : memory + posix::guard_bytes(), how, driver)),
      ring_(header_->head, slots_of(*header_), header_->records) {}

flight_recorder::~flight_recorder() {
    if (mapped_bytes_ == 0)
        std::free(memory_);
    else
        posix::unmap(memory_, mapped_bytes_);
}

auto flight_recorder::inputs() const noexcept -> std::span<std::byte> {
    return {reinterpret_cast<std::byte*>(header_) + header_->inputs_at, header_->inputs_max};
}

auto flight_recorder::image() const noexcept -> std::span<std::byte const> {
    auto const inputs = header_->inputs.end.load(std::memory_order_acquire); // with recording_driver::append
    return {reinterpret_cast<std::byte const*>(header_), header_->inputs_at + inputs};
}

auto make_flight_recorder(recorder_options const& wanted, driver const& of) noexcept
    -> std::unique_ptr<flight_recorder> {
    if (wanted.records == 0) return nullptr;
    auto how = wanted;
    auto const features = of.features();
    auto const is_on_heap = features.virtual_time && how.input_bytes == 0;
    if (is_on_heap) how.records = std::min(how.records, records_of_virtual_time);
    auto const bytes = record_bytes(how) + input_bytes(how);
    auto const mapped_bytes = is_on_heap ? 0 : bytes + posix::guard_bytes();
    auto* const memory =
        is_on_heap ? static_cast<std::byte*>(std::calloc(1, bytes)) : posix::map_behind_guard(mapped_bytes);
    if (memory == nullptr) return nullptr;
    auto* const made = new (std::nothrow) flight_recorder(memory, mapped_bytes, how, features.name);
    if (made != nullptr) return std::unique_ptr<flight_recorder>(made);
    if (is_on_heap)
        std::free(memory);
    else
        posix::unmap(memory, mapped_bytes);
    return nullptr;
}

auto with_inputs_recorded(std::unique_ptr<driver> own, flight_recorder* const to) -> std::unique_ptr<driver> {
    if (to == nullptr || to->header().inputs_max == 0) return own;
    return std::make_unique<recording_driver>(std::move(own), to->inputs(), to->header().inputs);
}

void executor::record_attempt(event const& done) const noexcept {
    recorder->note(done, flight_record::at_once);
}

std::coroutine_handle<> promise_header::record_and_go_on(ending const how) noexcept {
    static_assert(sizeof awaiting == sizeof(void*));
    env->executor->recorder->note(flight_kind::ending, static_cast<std::int64_t>(how),
                                  std::bit_cast<void const*>(awaiting));
    return edge->child_ended(*edge, *this, how);
}

} // namespace pitsaw::inline v0
