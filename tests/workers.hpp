#pragma once
#include <pitsaw/executor/runtime.hpp>

#include <atomic>
#include <cstdint>
#include <thread>
#include <utility>

namespace pitsaw::testing {

/// Options for so many workers.
[[nodiscard]] inline runtime_options workers(std::uint32_t const count) {
    runtime_options options;
    options.workers = count;
    return options;
}

/// Notes on which thread it was destroyed; moved from, it notes nothing.
class thread_probe {
  public:
    explicit thread_probe(std::thread::id& noted) noexcept : noted_(&noted) {}
    thread_probe(thread_probe&& other) noexcept : noted_(std::exchange(other.noted_, nullptr)) {}
    thread_probe(thread_probe const& other) noexcept = default;
    ~thread_probe() {
        if (noted_ != nullptr) *noted_ = std::this_thread::get_id();
    }

  private:
    std::thread::id* noted_;
};

} // namespace pitsaw::testing
