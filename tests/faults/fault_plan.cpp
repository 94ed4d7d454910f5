#include "faults/fault_plan.hpp"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <new>

namespace pitsaw::faults {
namespace {

fault plan;
std::atomic<std::uint64_t> calls = 0;
std::atomic<bool> struck = false;
thread_local int depth = 0;

} // namespace

void arm(fault what) noexcept {
    plan = what;
    calls = 0;
    struck = false;
}

auto disarm() noexcept -> bool {
    plan = {};
    return struck;
}

auto has_struck() noexcept -> bool { return struck; }

auto armed() noexcept -> fault { return plan; }

inside::inside() noexcept { ++depth; }
inside::~inside() { --depth; }

auto error_at(place where) noexcept -> int {
    if (depth == 0 || plan.where != where) return 0;
    if (++calls != plan.nth) return 0;
    struck = true;
    return plan.error;
}

auto rows_of_every_driver() -> std::vector<row> const& {
    static std::vector<row> const rows = {
        {"allocation", place::allocation, {ENOMEM}},
        {"eventfd", place::eventfd, {EMFILE, ENOMEM}},
        {"eventfd_write", place::eventfd_write, {EINTR}},
        {"socket", place::socket, {EMFILE, ENFILE, ENOBUFS, ENOMEM}},
    };
    return rows;
}

auto rows_of_epoll() -> std::vector<row> const& {
    static std::vector<row> const rows = {
        {"epoll_create", place::epoll_create, {EMFILE, ENOMEM}},
        {"epoll_control", place::epoll_control, {ENOMEM, ENOSPC}},
        {"epoll_wait_nanoseconds", place::epoll_wait_nanoseconds, {EINTR, ENOSYS, EPERM}},
        {"epoll_wait_milliseconds", place::epoll_wait_milliseconds, {EINTR}},
        {"accept", place::accept, {EMFILE, ENFILE, ENOBUFS, ENOMEM, EINTR, ECONNABORTED, EPERM}},
        // No EAGAIN: where there is something, the kernel does not say it, and otherwise an edge follows.
        {"receive", place::receive, {EINTR, ENOMEM, ENOBUFS}},
        {"send", place::send, {EINTR, ENOBUFS, ENOMEM}},
        {"connect", place::connect, {EINTR, EAGAIN, EADDRNOTAVAIL, ENOBUFS}},
        {"poll", place::poll, {EINTR}},
        {"peer_name", place::peer_name, {ENOBUFS}},
    };
    return rows;
}

auto rows_of_io_uring() -> std::vector<row> const& {
    static std::vector<row> const rows = {
        {"ring_setup", place::ring_setup, {EPERM, ENOSYS, EOPNOTSUPP, ENOMEM, EINVAL, EMFILE}},
        {"ring_enter", place::ring_enter, {EAGAIN, EBUSY, EINTR}},
        {"ring_register", place::ring_register, {ENOMEM, EINVAL}}, // with EINVAL a power is not there
        {"ring_map", place::ring_map, {ENOMEM, EAGAIN}},
        {"entry_receive", place::entry_receive, {EINTR, EAGAIN, ENOMEM, ENOBUFS}},
        {"entry_send", place::entry_send, {EINTR, EAGAIN, ENOMEM, ENOBUFS}},
        {"entry_accept", place::entry_accept, {EMFILE, ENFILE, ENOMEM, EINTR, EAGAIN, ECONNABORTED}},
        {"entry_connect", place::entry_connect, {EADDRNOTAVAIL, ENOMEM, EINTR}},
        {"entry_poll", place::entry_poll, {ENOMEM, EINTR}},
    };
    return rows;
}

} // namespace pitsaw::faults

// operator new, which the linker leads through here as it does the calls of wrapped_calls.cpp: a definition
// of our own would meet those of the sanitizers.
extern "C" {

void* __real__Znwm(std::size_t bytes);
void* __wrap__Znwm(std::size_t bytes) {
    if (pitsaw::faults::error_at(pitsaw::faults::place::allocation) != 0) throw std::bad_alloc();
    return __real__Znwm(bytes);
}

void* __real__ZnwmRKSt9nothrow_t(std::size_t bytes, std::nothrow_t const& tag) noexcept;
void* __wrap__ZnwmRKSt9nothrow_t(std::size_t bytes, std::nothrow_t const& tag) noexcept {
    if (pitsaw::faults::error_at(pitsaw::faults::place::allocation) != 0) return nullptr;
    return __real__ZnwmRKSt9nothrow_t(bytes, tag);
}

} // extern "C"
