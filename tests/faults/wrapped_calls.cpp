#include "faults/fault_plan.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

/// The linker's --wrap=CALL leads each CALL of the library and of this program to __wrap_CALL. These names
/// are the linker's.
namespace {

using pitsaw::faults::place;

/// True: the call has to fail, and errno says why.
auto fails(place where) noexcept -> bool {
    auto const error = pitsaw::faults::error_at(where);
    if (error != 0) errno = error;
    return error != 0;
}

} // namespace

extern "C" {

int __real_epoll_create1(int flags);
int __wrap_epoll_create1(int flags) { return fails(place::epoll_create) ? -1 : __real_epoll_create1(flags); }

int __real_epoll_ctl(int epoll, int what, int fd, epoll_event* event);
int __wrap_epoll_ctl(int epoll, int what, int fd, epoll_event* event) {
    // EPOLL_CTL_DEL needs no memory; epoll_ctl(2).
    return what == EPOLL_CTL_ADD && fails(place::epoll_control) ? -1
                                                                : __real_epoll_ctl(epoll, what, fd, event);
}

int __real_epoll_pwait2(int epoll, epoll_event* out, int most, timespec const* timeout, sigset_t const* mask);
int __wrap_epoll_pwait2(int epoll, epoll_event* out, int most, timespec const* timeout,
                        sigset_t const* mask) {
    if (pitsaw::faults::armed().where == place::epoll_wait_milliseconds) {
        errno = ENOSYS;
        return -1;
    }
    return fails(place::epoll_wait_nanoseconds) ? -1 : __real_epoll_pwait2(epoll, out, most, timeout, mask);
}

int __real_epoll_wait(int epoll, epoll_event* out, int most, int timeout);
int __wrap_epoll_wait(int epoll, epoll_event* out, int most, int timeout) {
    return fails(place::epoll_wait_milliseconds) ? -1 : __real_epoll_wait(epoll, out, most, timeout);
}

int __real_eventfd(unsigned count, int flags);
int __wrap_eventfd(unsigned count, int flags) {
    return fails(place::eventfd) ? -1 : __real_eventfd(count, flags);
}

ssize_t __real_write(int fd, void const* from, size_t bytes);
ssize_t __wrap_write(int fd, void const* from, size_t bytes) {
    return fails(place::eventfd_write) ? -1 : __real_write(fd, from, bytes);
}

int __real_socket(int domain, int type, int protocol);
int __wrap_socket(int domain, int type, int protocol) {
    return fails(place::socket) ? -1 : __real_socket(domain, type, protocol);
}

int __real_accept4(int fd, sockaddr* address, socklen_t* length, int flags);
int __wrap_accept4(int fd, sockaddr* address, socklen_t* length, int flags) {
    return fails(place::accept) ? -1 : __real_accept4(fd, address, length, flags);
}

ssize_t __real_recv(int fd, void* into, size_t bytes, int flags);
ssize_t __wrap_recv(int fd, void* into, size_t bytes, int flags) {
    return fails(place::receive) ? -1 : __real_recv(fd, into, bytes, flags);
}

ssize_t __real_send(int fd, void const* from, size_t bytes, int flags);
ssize_t __wrap_send(int fd, void const* from, size_t bytes, int flags) {
    return fails(place::send) ? -1 : __real_send(fd, from, bytes, flags);
}

ssize_t __real_sendmsg(int fd, msghdr const* message, int flags);
ssize_t __wrap_sendmsg(int fd, msghdr const* message, int flags) {
    return fails(place::send) ? -1 : __real_sendmsg(fd, message, flags);
}

int __real_connect(int fd, sockaddr const* to, socklen_t length);
int __wrap_connect(int fd, sockaddr const* to, socklen_t length) {
    if (!fails(place::connect)) return __real_connect(fd, to, length);
    if (errno == EINTR) { // connect(2): it goes on in the background
        (void)__real_connect(fd, to, length);
        errno = EINTR;
    }
    return -1;
}

int __real_poll(pollfd* of, nfds_t count, int timeout);
int __wrap_poll(pollfd* of, nfds_t count, int timeout) {
    return fails(place::poll) ? -1 : __real_poll(of, count, timeout);
}

int __real_getpeername(int fd, sockaddr* address, socklen_t* length);
int __wrap_getpeername(int fd, sockaddr* address, socklen_t* length) {
    return fails(place::peer_name) ? -1 : __real_getpeername(fd, address, length);
}

} // extern "C"
