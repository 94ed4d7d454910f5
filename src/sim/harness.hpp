#pragma once
#include <pitsaw/sim/book.hpp>
#include <pitsaw/task/promise_header.hpp>

#include <csignal>
#include <string>
#include <string_view>
#include <vector>

namespace pitsaw::inline v0::sim {

/// Where a chain waits: the site of the innermost await and, below it, those of its callers.
[[nodiscard]] std::string await_sites(promise_header const* leaf);

/// The same of the task that runs on this thread, or that none does.
[[nodiscard]] std::string sites_of_the_running_task();

/// Appends one of several things that are wrong.
void append_wrong(std::string& to, std::string_view what);

/// Begins the users' books anew, and afterwards says what is wrong with them.
void clear_books(std::vector<book*> const& books) noexcept;
void append_wrong(std::string& to, std::vector<book*> const& books);

/// Says what was being done if the process is aborted meanwhile: a failed check, an exception that nobody
/// catches.
///
/// Lifetime: on the stack of what it speaks of. Threads: one in the process; an abort on another thread says
/// it too.
class last_words {
  public:
    explicit last_words(char const* harness);
    last_words(last_words&&) = delete;
    ~last_words();

    /// Set whenever more is known; at hand when there is no memory any more. Empty: nothing is to be said.
    void set(std::string what);

  private:
    static void aborting(int);

    using handler = void (*)(int);
    handler before_;
    last_words* outer_;
    std::string text_;
    char const* harness_;
};

} // namespace pitsaw::inline v0::sim
