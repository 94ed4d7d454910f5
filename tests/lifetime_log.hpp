#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pitsaw::testing {

/// What happened in which order, as words: probes add theirs, tests add their own.
///
///     lifetime_log log;
///     { probe const a(log, "a"); log.note("inside"); }
///     EXPECT_EQ(log.take(), "inside ~a");
class lifetime_log {
  public:
    lifetime_log() = default;
    lifetime_log(lifetime_log&&) = delete;

    void note(std::string_view const word) {
        if (!words_.empty()) words_ += ' ';
        words_ += word;
    }

    /// What was noted since the last take, separated by spaces.
    [[nodiscard]] std::string take() { return std::exchange(words_, {}); }

    /// Probes that exist.
    [[nodiscard]] std::ptrdiff_t alive() const { return alive_; }

  private:
    friend class probe;
    std::string words_;
    std::ptrdiff_t alive_ = 0;
};

/// A local whose destruction is noted as `~name`. Moved from, it notes nothing.
class probe {
  public:
    probe(lifetime_log& log, std::string name) : log_(&log), name_(std::move(name)) { ++log_->alive_; }
    probe(probe&& other) noexcept : log_(std::exchange(other.log_, nullptr)), name_(std::move(other.name_)) {}
    ~probe() {
        if (log_ == nullptr) return;
        --log_->alive_;
        log_->note("~" + name_);
    }

  private:
    lifetime_log* log_;
    std::string name_;
};

} // namespace pitsaw::testing
