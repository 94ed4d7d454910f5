#include "driver/epoll/driver.hpp"

#include <pitsaw/base/check.hpp>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <limits>
#include <new>
#include <span>

namespace pitsaw::inline v0 {
namespace {

// Edges taken in one call; more stay in the kernel, whose list goes round, so that none is starved.
constexpr int edges_max = 128;

// No descriptor has generation 0.
constexpr std::uint64_t interrupt_tag = 0;

auto to_tag(descriptor of) noexcept -> std::uint64_t { return std::uint64_t{of.generation} << 32 | of.index; }

auto from_tag(std::uint64_t tag) noexcept -> descriptor {
    return {static_cast<std::uint32_t>(tag), static_cast<std::uint32_t>(tag >> 32)};
}

auto register_edges(int epoll, int fd, std::uint32_t of, std::uint64_t tag) noexcept -> std::int32_t {
    epoll_event wanted = {};
    wanted.events = of | EPOLLET;
    wanted.data.u64 = tag;
    return ::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &wanted) < 0 ? -errno : 0;
}

auto to_readiness(std::uint32_t events) noexcept -> readiness {
    auto edges = readiness::none;
    if ((events & EPOLLIN) != 0) edges = edges | readiness::inward;
    if ((events & EPOLLOUT) != 0) edges = edges | readiness::outward;
    if ((events & EPOLLRDHUP) != 0) edges = edges | readiness::inward | readiness::hang_up;
    if ((events & (EPOLLERR | EPOLLHUP)) != 0) edges = readiness::all;
    if ((events & EPOLLPRI) != 0) edges = edges | readiness::urgent;
    return edges;
}

} // namespace

auto epoll_driver::make() noexcept -> io_result<std::unique_ptr<epoll_driver>> {
    auto const failed = [] { return std::unexpected(to_error(-errno)); };
    owned_fd epoll(::epoll_create1(EPOLL_CLOEXEC));
    if (!epoll) return failed();
    owned_fd interrupts(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!interrupts) return failed();
    if (auto const result = register_edges(epoll.get(), interrupts.get(), EPOLLIN, interrupt_tag); result < 0)
        return std::unexpected(to_error(result));
    std::unique_ptr<epoll_driver> made(new (std::nothrow)
                                           epoll_driver(std::move(epoll), std::move(interrupts)));
    if (!made) return std::unexpected(to_error(-ENOMEM));
    return made;
}

auto epoll_driver::add(int fd, descriptor tag) noexcept -> std::int32_t {
    return register_edges(epoll_.get(), fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLPRI, to_tag(tag));
}

/// epoll(7), question 6: where a child of a fork holds the object open as well, its registration outlives the
/// descriptor, and nobody can end it any more.
void epoll_driver::remove(int fd) noexcept { (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr); }

void epoll_driver::wait_for_edges(time_point until) noexcept {
    std::array<epoll_event, edges_max> edges;
    auto const left = until == time_point::min() || until == never
                          ? duration::zero()
                          : std::max(saturating_difference(until, now()), duration::zero());
    int count = -1;
    if (has_nanosecond_waits_) {
        timespec const timeout{.tv_sec = static_cast<time_t>(left / std::chrono::seconds(1)),
                               .tv_nsec = static_cast<long>((left % std::chrono::seconds(1)).count())};
        count = ::epoll_pwait2(epoll_.get(), edges.data(), edges_max, until == never ? nullptr : &timeout,
                               nullptr);
        // Before Linux 5.11 it is unknown, and filters of system calls that are older answer EPERM as well.
        if (count < 0 && (errno == ENOSYS || errno == EPERM)) has_nanosecond_waits_ = false;
    }
    if (!has_nanosecond_waits_) {
        // Whole milliseconds, rounded up.
        auto const milliseconds = std::chrono::ceil<std::chrono::milliseconds>(left).count();
        auto const timeout = std::min<std::int64_t>(milliseconds, std::numeric_limits<int>::max());
        count = ::epoll_wait(epoll_.get(), edges.data(), edges_max,
                             until == never ? -1 : static_cast<int>(timeout));
    }
    if (count < 0) {
        check(errno == EINTR,
              "epoll_wait failed: its descriptor belongs to the driver, nobody else closes it");
        return; // the caller waits again for what is left
    }
    for (auto const& edge : std::span(edges).first(static_cast<std::size_t>(count)))
        if (edge.data.u64 != interrupt_tag) note(from_tag(edge.data.u64), to_readiness(edge.events));
}

/// Adds to a counter that nobody reads: each write is an edge, and one that is not read is none twice.
void epoll_driver::interrupt() noexcept {
    std::uint64_t const one = 1;
    // EAGAIN after 2^64 - 2 of them does not come in the life of a process; eventfd(2).
    while (::write(interrupts_.get(), &one, sizeof one) < 0 && errno == EINTR) {
    }
}

} // namespace pitsaw::inline v0
