#pragma once
#include "driver/recording/input_entry.hpp"

#include <pitsaw/base/atomic.hpp>
#include <pitsaw/io/driver.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pitsaw::inline v0::sim {

/// Answers calls from a recording, as long as they are the recorded ones in the recorded order. Of one worker
/// that knows the outside through its driver alone, that is so.
///
/// | state    | a call                                                                                    |
/// |----------|-------------------------------------------------------------------------------------------|
/// | follows  | is compared with the next entry, and gets its answer                                      |
/// | is over  | there was no entry, or another: what waits is cancelled, and so is what comes, until the   |
/// |          | program has ended; time passes where the program waits for it                             |
///
/// Lifetime, Threads, Errors: those of `driver`. It allocates; out of memory ends the process.
class replay_driver final : public driver {
  public:
    /// `entries` outlive it. `on_over` is called once, in a poll.
    replay_driver(std::span<std::byte const> entries, std::function<void()> on_over);
    ~replay_driver() override;

    auto now() const noexcept -> time_point override;
    auto attach(native_handle handle) noexcept -> io_result<descriptor> override;
    auto open_stream(address_family family) noexcept -> io_result<descriptor> override;
    auto control(descriptor target, socket_command& command) noexcept -> io_result<void> override;
    auto lend(std::span<std::byte> memory, std::uint32_t buffer_bytes) noexcept
        -> io_result<std::uint16_t> override;
    void give_back(std::uint16_t pool, std::uint16_t buffer) noexcept override;
    auto attempt(operation& op, event& finished) noexcept -> bool override;
    void submit(operation& op) noexcept override;
    void cancel(operation& op) noexcept override;
    auto poll(std::span<event> out, time_point until) noexcept -> std::size_t override;
    void wake() noexcept override;
    auto detach(descriptor target) noexcept -> io_result<native_handle> override;
    void discard(descriptor target) noexcept override;
    auto drain(std::span<event> out, time_point deadline) noexcept -> drain_progress override;
    auto features() const noexcept -> driver_features override;

    [[nodiscard]] auto replayed() const noexcept -> std::uint64_t { return replayed_; }
    [[nodiscard]] auto divergence() const noexcept -> std::string const& { return divergence_; }
    [[nodiscard]] auto other_bytes_sent() const noexcept -> std::uint64_t { return other_bytes_sent_; }

  private:
    struct lent_pool {
        std::span<std::byte> memory;
        std::uint32_t buffer_bytes = 0;
    };
    struct answer {
        input_entry entry;
        std::span<std::byte const> content;
    };

    [[nodiscard]] auto look() const noexcept -> std::optional<answer>;
    [[nodiscard]] auto next(input_entry const& asked) const noexcept -> std::optional<answer>;
    void step(answer const& over) const noexcept;
    void end_here() const noexcept;
    [[nodiscard]] auto are_there(std::size_t events) const noexcept -> bool;
    [[nodiscard]] auto bring(std::span<event> out, driver_call call) noexcept
        -> std::optional<std::pair<std::size_t, input_entry>>;
    [[nodiscard]] auto bring_one(event& to) noexcept -> bool;
    void receive(operation& op, answer const& from, event& to) noexcept;
    [[nodiscard]] auto end_what_waits(std::span<event> out, time_point until) noexcept -> std::size_t;

    std::span<std::byte const> entries_;
    std::function<void()> on_over_;
    std::vector<lent_pool> pools_;
    std::map<std::uint64_t, operation*> flights_; // by their address in the recorded process
    std::vector<operation*> left_;                // in flight when it was over, or submitted since
    // What `now` moves on as well.
    mutable std::size_t at_ = 0; // in entries_
    mutable std::uint64_t replayed_ = 0;
    mutable time_point time_{};
    mutable std::string divergence_;
    mutable bool is_over_ = false;
    bool has_told_ = false;
    std::uint64_t other_bytes_sent_ = 0;
    detail::atomic<std::uint32_t> woken_{0}; // any thread: 1 from a wake to the poll that it ends
};

} // namespace pitsaw::inline v0::sim
