#include "sim/report_words.hpp"

#include "loop/worker.hpp"

namespace pitsaw::inline v0::sim {

namespace {

constexpr std::size_t sites_max = 32; // of a chain of thousands the rest says nothing more

} // namespace

std::string await_sites(promise_header const* leaf) {
    std::string text;
    std::size_t count = 0;
    for (; leaf != nullptr; leaf = leaf->parent) {
        auto const& at = leaf->awaiting;
        if (at.line() == 0) continue; // a leaf in a combinator has none
        if (count++ == sites_max) return text + " <- ...";
        text += (text.empty() ? "" : " <- ") + std::string(at.file_name()) + ":" + std::to_string(at.line());
    }
    return text;
}

std::string sites_of_the_running_task() {
    auto const* const worker = current_executor();
    auto const* const running = worker == nullptr ? nullptr : worker->current;
    auto sites = await_sites(static_cast<promise_header const*>(running));
    return sites.empty() ? "outside of every await" : sites;
}

void append_wrong(std::string& to, std::string_view const what) {
    if (what.empty()) return;
    if (!to.empty()) to += ", ";
    to += what;
}

} // namespace pitsaw::inline v0::sim
