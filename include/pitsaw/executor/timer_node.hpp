#pragma once
#include <pitsaw/base/clock.hpp>
#include <pitsaw/base/intrusive_list.hpp>

#include <cstdint>

namespace pitsaw::inline v0 {

/// One wait for a point in time: the part of a sleep, a timeout or an interval that stands in a
/// `timer_queue`.
///
///     struct alarm : timer_node {
///         bool rang = false;
///         alarm() : timer_node([](timer_node& self) noexcept { static_cast<alarm&>(self).rang = true; }) {}
///     };
///
/// Set `deadline` and `on_expired` while it is not armed; the queue reads both and changes neither.
///
/// Lifetime: caller-owned, immovable; disarmed before it is destroyed (a debug check). It is disarmed already
/// when its `on_expired` runs, which may destroy it or arm it again. Threads: those of its queue, one worker.
/// Errors: none. 40 bytes.
class timer_node : public intrusive_list_node {
  public:
    using callback = void (*)(timer_node&) noexcept;

    constexpr timer_node() noexcept = default;
    constexpr explicit timer_node(callback run) noexcept : on_expired(run) {}

    /// True from `arm` until it fires or is disarmed.
    [[nodiscard]] auto armed() const noexcept -> bool { return is_linked(); }

    time_point deadline = never;
    callback on_expired = nullptr;

  private:
    friend class timer_queue;
    std::uint64_t tick_ =
        0; // the queue's: where it stands, later than the deadline if that had passed on arming
};
static_assert(sizeof(timer_node) <= 40);

} // namespace pitsaw::inline v0
