#include "model/engine.hpp"

#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace pitsaw::inline v0::model {
namespace {

[[nodiscard]] auto order_name(std::memory_order order) -> char const* {
    switch (order) {
    case std::memory_order_relaxed:
        return "relaxed";
    case std::memory_order_consume:
    case std::memory_order_acquire:
        return "acquire";
    case std::memory_order_release:
        return "release";
    case std::memory_order_acq_rel:
        return "acq_rel";
    case std::memory_order_seq_cst:
        return "seq_cst";
    }
    return "?";
}

[[nodiscard]] auto kind_name(step_kind kind) -> char const* {
    switch (kind) {
    case step_kind::start:
        return "starts";
    case step_kind::load:
        return "load";
    case step_kind::store:
        return "store";
    case step_kind::modify:
        return "modify";
    case step_kind::compare_exchange:
        return "compare_exchange";
    case step_kind::fence:
        return "fence";
    case step_kind::park:
        return "park";
    case step_kind::wake:
        return "woken";
    case step_kind::notify:
        return "notify";
    case step_kind::join:
        return "joins";
    case step_kind::yield:
        return "yields";
    case step_kind::lock:
        return "lock";
    case step_kind::try_lock:
        return "try_lock";
    case step_kind::unlock:
        return "unlock";
    case step_kind::read_variable:
        return "reads";
    case step_kind::write_variable:
        return "writes";
    }
    return "?";
}

[[nodiscard]] auto file_line(std::source_location where) -> std::string {
    if (where.line() == 0) return {};
    auto const* const slash = std::strrchr(where.file_name(), '/');
    return std::string(slash == nullptr ? where.file_name() : slash + 1) + ':' + std::to_string(where.line());
}

[[nodiscard]] constexpr auto has_step(step_kind kind) -> bool {
    return kind != step_kind::read_variable && kind != step_kind::write_variable;
}

} // namespace

auto engine::value_text(std::uint32_t object, detail::word value) const -> std::string {
    auto const& traits = *memory_[object].traits;
    char text[32];
    if (traits.is_pointer) {
        if (value == 0) return "null";
        std::snprintf(text, sizeof text, "0x%" PRIx64, value);
    } else if (traits.is_signed) {
        auto const unused = 64 - 8 * traits.size;
        std::snprintf(text, sizeof text, "%" PRId64, static_cast<std::int64_t>(value << unused) >> unused);
    } else {
        std::snprintf(text, sizeof text, value > 0xFFFF'FFFF ? "0x%" PRIx64 : "%" PRIu64, value);
    }
    return text;
}

auto engine::waits_text(virtual_thread const& of) const -> std::string {
    auto const& next = of.pending;
    auto const at = " at " + file_line(next.where);
    switch (next.kind) {
    case step_kind::wake:
        return "for a notification of " + memory_.name_of(next.object) + at;
    case step_kind::join:
        return std::string("for the end of ") + static_cast<char>('a' + next.other) + at;
    case step_kind::lock:
        return "for " + memory_.name_of(next.object) + ", which " +
               static_cast<char>('a' + memory_[next.object].owner) + " holds," + at;
    default:
        return "in a loop that has yielded, next" + at;
    }
}

auto engine::line(log_entry const& each) const -> std::string {
    using outcome = log_entry::outcome;
    auto const& what = each.what;
    std::string text = kind_name(what.kind);
    bool const is_atomic = each.values.from != access::none || each.values.written != access::none;
    if (is_atomic || what.kind == step_kind::fence)
        text +=
            std::string("(") + order_name(each.how == outcome::done ? what.order : what.failure_order) + ')';
    if (what.kind == step_kind::notify) text += what.all ? "_all" : "_one";
    if (what.kind == step_kind::join) text += std::string(" ") + static_cast<char>('a' + what.other);
    if (what.object != no_object) text += ' ' + memory_.name_of(what.object);
    if (each.values.from != access::none) {
        text += " read " + value_text(what.object, each.values.before);
        text +=
            each.from == access::none ? " from its construction" : " from #" + std::to_string(each.from + 1);
    }
    if (each.values.written != access::none) {
        text += (each.values.from != access::none ? ", wrote " : " := ") +
                value_text(what.object, each.values.after);
        auto const& of = memory_[what.object];
        auto const rank = of.stores[each.values.written].rank;
        if (rank + 1 < of.stores.size()) {
            auto const above = of.stores[of.order[rank + 1]].logged;
            if (above < static_cast<std::size_t>(&each - log_.data()))
                text += " (in the order of its stores before #" + std::to_string(above + 1) + ')';
        }
    }
    if (each.how == outcome::failed) text += ", failed";
    if (each.how == outcome::failed_spuriously) text += ", failed without reason";
    if (each.how == outcome::parked) text += ": sleeps";
    if (each.how == outcome::not_parked) text += ": has changed, does not sleep";
    if (what.kind == step_kind::notify) text += ": wakes " + std::to_string(each.woken);
    return text;
}

auto engine::trace() const -> std::string {
    std::string text;
    for (std::size_t i = 0; i < log_.size(); ++i) {
        auto const& each = log_[i];
        char head[32];
        std::snprintf(head, sizeof head, "#%-4zu %c  ", i + 1, static_cast<int>('a' + each.thread));
        auto const what = line(each);
        text += head + what + std::string(what.size() < 70 ? 70 - what.size() : 1, ' ') +
                file_line(each.what.where) + '\n';
    }
    return text;
}

/// Each step's thread, how many of its steps follow each other, and which way the last of them went if it
/// was not the first: "ab3/1a".
auto engine::rerun() const -> std::string {
    std::string text;
    std::uint32_t times = 0;
    log_entry const* last = nullptr;
    auto const flush = [&] {
        if (last == nullptr) return;
        text += static_cast<char>('a' + last->thread);
        if (times > 1) text += std::to_string(times);
        if (last->choice != 0) text += '/' + std::to_string(last->choice);
        last = nullptr;
        times = 0;
    };
    for (auto const& each : log_) {
        if (!has_step(each.what.kind)) continue;
        if (last != nullptr && (last->thread != each.thread || last->choice != 0)) flush();
        last = &each;
        ++times;
    }
    flush();
    return text;
}

} // namespace pitsaw::inline v0::model
