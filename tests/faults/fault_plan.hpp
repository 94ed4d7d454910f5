#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace pitsaw::faults {

/// The places where a driver asks its system for something that may be refused. The test program is linked so
/// that these calls pass through wrapped_calls.cpp and wrapped_ring.cpp; the library itself knows nothing of
/// it.
enum class place : std::uint8_t {
    none,
    allocation, // operator new
    ring_setup,
    ring_enter, // before it has submitted anything
    ring_register,
    ring_map,
    entry_receive, // the result of an entry in the submission queue
    entry_send,
    entry_accept,
    entry_connect,
    entry_poll,
    epoll_create,
    epoll_control,
    epoll_wait_nanoseconds,  // epoll_pwait2
    epoll_wait_milliseconds, // epoll_wait; with this armed there is no epoll_pwait2
    eventfd,
    eventfd_write,
    socket,
    accept,
    receive,
    send,
    connect,
    poll,
    peer_name,
};

/// The nth call at `where` fails with `error`.
struct fault {
    place where = place::none;
    int error = 0;
    std::uint64_t nth = 1;
};

void arm(fault what) noexcept;                // counts from here on
[[nodiscard]] auto disarm() noexcept -> bool; // whether it struck
[[nodiscard]] auto has_struck() noexcept -> bool;
[[nodiscard]] auto armed() noexcept -> fault;

/// Only what a driver calls counts: the thread is inside one as long as one of these lives.
class inside {
  public:
    inside() noexcept;
    inside(inside&&) = delete;
    ~inside();
};

/// Counts a call of the driver. Not 0: it has to fail with that error.
[[nodiscard]] auto error_at(place where) noexcept -> int;

/// One row of what is tried: a place and the errors that Linux documents for it.
struct row {
    char const* name;
    place where;
    std::vector<int> errors;
};
[[nodiscard]] auto rows_of_every_driver() -> std::vector<row> const&;
[[nodiscard]] auto rows_of_epoll() -> std::vector<row> const&;
[[nodiscard]] auto rows_of_io_uring() -> std::vector<row> const&;

} // namespace pitsaw::faults
