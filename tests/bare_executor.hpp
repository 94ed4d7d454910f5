#pragma once
#include <pitsaw/executor/executor_ref.hpp>

#include <atomic>
#include <exception>
#include <string_view>

namespace pitsaw::testing {

/// An executor without a loop: tests take from its queues by hand.
class bare_executor final : public executor {
  public:
    bare_executor() = default;
    ~bare_executor() { wait_for_posters(); }

    [[nodiscard]] auto now() const noexcept -> time_point override { return time_point(); }
    void lost_error(std::exception_ptr) noexcept override {}
    void log(std::string_view) noexcept override {}
    [[nodiscard]] auto find_buffers() noexcept -> buffer_pool* override { return nullptr; }

    /// Moves what other threads posted to the ready queue.
    void take_inbox() {
        for (std::size_t each = 0; each < priority_count; ++each)
            inboxes_[each].take_all([this, each](continuation& node, std::uintptr_t const how) noexcept {
                ready.push(node, static_cast<resume_as>(how), static_cast<priority>(each));
            });
    }

    /// Resumes every callback that is ready.
    void run_callbacks() {
        take_inbox();
        while (!ready.empty()) ready.pop().next->handle().resume();
    }

    [[nodiscard]] int wakes() const { return wakes_; }

    int watched_suspended = 0;
    int watched_completed = 0;

  private:
    void wake() noexcept override { ++wakes_; }
    void on_watched_suspended(continuation&) noexcept override { ++watched_suspended; }
    void on_watched_completed(continuation&) noexcept override { ++watched_completed; }

    std::atomic<int> wakes_ = 0;
};

} // namespace pitsaw::testing
