#include "sim/harness.hpp"

#include "loop/worker.hpp"

#include <atomic>
#include <csignal>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace pitsaw::inline v0::sim {

namespace {

// A signal handler is told nothing but the signal, so that it has to find the words by itself.
std::atomic<last_words*> words_of_the_process = nullptr;

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

void clear_books(std::vector<book*> const& books) noexcept {
    for (auto* const each : books) each->clear();
}

void append_wrong(std::string& to, std::vector<book*> const& books) {
    for (auto const* const each : books) append_wrong(to, each->imbalance());
}

last_words::last_words(char const* const harness)
    : before_(std::signal(SIGABRT, aborting)), outer_(words_of_the_process.exchange(this)),
      harness_(harness) {}

last_words::~last_words() {
    words_of_the_process = outer_;
    std::signal(SIGABRT, before_);
}

void last_words::set(std::string what) { text_ = std::move(what); }

// The C library aborts amid its own work too (a damaged heap), with locks that printing would wait for, and a
// signal from outside comes anywhere: here is nothing but write(2) and what ends the process, which such a
// signal would not do once it has been handled.
void last_words::aborting(int) {
    std::signal(SIGABRT, SIG_DFL);
    std::raise(SIGABRT); // it waits until this handler returns
    auto const* const self = words_of_the_process.load();
    if (self == nullptr || self->text_.empty()) return;
    for (std::string_view each : {std::string_view(self->harness_), std::string_view(": aborted in "),
                                  std::string_view(self->text_), std::string_view("\n")})
        while (!each.empty()) {
            auto const count = ::write(STDERR_FILENO, each.data(), each.size());
            if (count <= 0) return;
            each.remove_prefix(static_cast<std::size_t>(count));
        }
}

} // namespace pitsaw::inline v0::sim
