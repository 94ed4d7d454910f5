#pragma once
#include "driver/readiness/driver.hpp"
#include "os/posix/owned_fd.hpp"

#include <memory>

namespace pitsaw::inline v0 {

/// The driver of Linux's epoll(7): for kernels and sandboxes that have no io_uring.
///
/// Each descriptor is registered once, edge-triggered, until it is closed. Files and whatever else epoll
/// cannot watch are refused by `attach` (`operation_not_permitted`); they belong to the blocking pool.
/// Lifetime, Threads, Errors: those of `driver`.
class epoll_driver final : public readiness_driver {
  public:
    /// Errors: `too_many_files_open`, `not_enough_memory`.
    [[nodiscard]] static auto make() noexcept -> io_result<std::unique_ptr<epoll_driver>>;

    auto features() const noexcept -> driver_features override;

  private:
    epoll_driver(owned_fd epoll, owned_fd interrupts) noexcept
        : epoll_(std::move(epoll)), interrupts_(std::move(interrupts)) {}

    auto add(int fd, descriptor tag) noexcept -> std::int32_t override;
    void remove(int fd) noexcept override;
    void wait_for_edges(time_point until) noexcept override;
    void interrupt() noexcept override;

    owned_fd epoll_;
    owned_fd interrupts_;              // an eventfd; set once
    bool has_nanosecond_waits_ = true; // epoll_pwait2(2), from Linux 5.11 on
};

} // namespace pitsaw::inline v0
