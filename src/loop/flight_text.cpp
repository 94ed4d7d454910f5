#include "loop/flight_text.hpp"

#include "os/posix/process_number.hpp"
#include "os/posix/whole_file.hpp"

#include <pitsaw/base/check.hpp>
#include <pitsaw/executor/executor_ref.hpp>
#include <pitsaw/io/operation.hpp>
#include <pitsaw/stop/inplace_stop_token.hpp>
#include <pitsaw/task/promise_header.hpp>

#include <algorithm>
#include <bit>
#include <cinttypes>
#include <cstdlib>
#include <source_location>

namespace pitsaw::inline v0 {
namespace {

constexpr std::size_t records_of_a_failed_check = 32;

auto ending_name(std::int32_t which) noexcept -> char const* {
    switch (static_cast<ending>(which)) {
    case ending::value:
        return "with a value";
    case ending::exception:
        return "with an exception";
    case ending::stopped:
        return "stopped";
    }
    return "in an unknown way";
}

auto reason_name(std::int32_t which) noexcept -> char const* {
    switch (static_cast<stop_reason>(which)) {
    case stop_reason::none:
        return "none";
    case stop_reason::requested:
        return "requested";
    case stop_reason::timeout:
        return "timeout";
    case stop_reason::shutdown:
        return "shutdown";
    case stop_reason::sibling_failed:
        return "sibling failed";
    case stop_reason::sibling_won:
        return "sibling won";
    case stop_reason::peer_gone:
        return "peer gone";
    }
    return "unknown";
}

struct bit_name {
    unsigned bit;
    char const* name;
};
constexpr bit_name option_names[] = {{static_cast<unsigned>(op_option::multishot), ", multishot"},
                                     {static_cast<unsigned>(op_option::vectored), ", vectored"},
                                     {static_cast<unsigned>(op_option::broken), ", broken"}};
constexpr bit_name flag_names[] = {{static_cast<unsigned>(event_flag::more), ", more to come"},
                                   {static_cast<unsigned>(event_flag::pooled), ", pooled"},
                                   {flight_record::at_once, ", at once"}};

/// What snprintf would do, at the end of what stands in `text`.
template <class... Values>
void add(std::array<char, 256>& text, std::size_t& used, char const* format, Values... values) noexcept {
    auto const room = text.size() - used;
    auto const more = std::snprintf(text.data() + used, room, format, values...);
    used += std::min(static_cast<std::size_t>(std::max(more, 0)), room - 1);
}

void add_event(std::array<char, 256>& text, std::size_t& used, flight_record const& of) noexcept {
    auto const what = name(static_cast<op_code>(of.code));
    add(text, used, "%-8.*s  descriptor %" PRIu32 ":%08" PRIx32 "  %" PRId32, static_cast<int>(what.size()),
        what.data(), of.index, of.generation, of.result);
    for (auto const& each : option_names)
        if ((of.options & each.bit) != 0) add(text, used, "%s", each.name);
    for (auto const& each : flag_names)
        if ((of.flags & each.bit) != 0) add(text, used, "%s", each.name);
}

void dump(flight_recorder const& of) noexcept {
    char const* const folder = std::getenv("PITSAW_RECORD_FOLDER");
    if (folder == nullptr || *folder == '\0') return;
    char path[512];
    auto const length =
        std::snprintf(path, sizeof path, "%s/pitsaw-%ld.record", folder, posix::process_number());
    if (length < 0 || static_cast<std::size_t>(length) >= sizeof path) return;
    auto const result = posix::write_whole_file(path, of.image());
    if (result == 0)
        std::fprintf(stderr, "the whole record is in %s\n", path);
    else
        std::fprintf(stderr, "the record cannot be written to %s: error %d\n", path, -result);
}

} // namespace

auto to_text(flight_record const& of, char const* const place) noexcept -> std::array<char, 256> {
    std::array<char, 256> text{};
    std::size_t used = 0;
    constexpr std::int64_t second = 1'000'000'000;
    add(text, used, "%10" PRId64 ".%09" PRId64 "  ", of.time / second, of.time % second);
    switch (of.kind) {
    case flight_kind::event:
        add_event(text, used, of);
        break;
    case flight_kind::ending:
        add(text, used, "ended     %s", ending_name(of.result));
        if (place != nullptr) add(text, used, ", last await at %s", place);
        break;
    case flight_kind::stop:
        add(text, used, "stop      %s", reason_name(of.result));
        break;
    case flight_kind::timers:
        add(text, used, "timers    %" PRId32 " fired", of.result);
        break;
    }
    return text;
}

void print_last(flight_recorder const& of, std::size_t const count, std::FILE* const to) noexcept {
    auto const& ring = of.ring();
    auto const end = ring.pushed();
    auto const kept = std::min<std::uint64_t>({count, ring.size() - 1, end});
    std::fprintf(to, "the last %" PRIu64 " of %" PRIu64 " records of this worker:\n", kept, end);
    for (auto number = end - kept; number != end; ++number) {
        flight_record each;
        if (!ring.read(number, each)) continue;
        char place[160] = "";
        auto const at = std::bit_cast<std::source_location>(static_cast<std::uintptr_t>(each.subject));
        auto const has_place = each.kind == flight_kind::ending && at.line() != 0;
        if (has_place) std::snprintf(place, sizeof place, "%s:%u", at.file_name(), unsigned(at.line()));
        std::fprintf(to, "%s\n", to_text(each, has_place ? place : nullptr).data());
    }
}

void detail::print_record_of_this_thread() noexcept {
    auto* const worker = current_executor();
    if (worker == nullptr) return;
    worker->on_check_failed();
    if (worker->recorder == nullptr) return;
    if (worker->recorder->ring().pushed() != 0)
        print_last(*worker->recorder, records_of_a_failed_check, stderr);
    dump(*worker->recorder);
}

} // namespace pitsaw::inline v0
