/* load PORT CONNECTIONS SECONDS PID [count]
 *
 * A closed loop of 64-byte echoes: each connection sends again when its reply is in. Prints what the replies took and
 * what they cost the server PID; with `count`, how many system calls the server made instead, for counting takes time.
 * Before it measures it warms up for a quarter of SECONDS, and afterwards takes in every reply, so that the server
 * sees connections that end in order. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#if __has_include(<liburing.h>)
#include <liburing.h>
#endif

enum { message_bytes = 64, buffer_bytes = 2048, events_max = 512, threads_max = 64 };

struct connection {
    int fd;
    unsigned received; /* of the reply that is on its way */
    uint64_t sent_at;
};

static struct connection *connections;
static int connection_count, replies_missing;
static char message[message_bytes];

static void die(char const *what, int error) {
    fprintf(stderr, "load: %s: %s\n", what, strerror(error));
    exit(1);
}

static uint64_t nanoseconds_of(clockid_t clock) {
    struct timespec at;
    if (clock_gettime(clock, &at)) die("clock", errno);
    return at.tv_sec * 1000000000ull + at.tv_nsec;
}

static uint64_t now(void) { return nanoseconds_of(CLOCK_MONOTONIC); }

/* ---- Latencies: 128 buckets for each power of two, so that a percentile is right to 1 %. */

static uint64_t buckets[64 * 128], replies;

static void note_latency(uint64_t took) {
    int const shift = 63 - __builtin_clzll(took | 128) - 7;
    buckets[shift * 128 + (took >> shift)]++;
    replies++;
}

static double percentile_us(double share) {
    uint64_t const wanted = (uint64_t)(share * replies);
    uint64_t seen = 0;
    for (int i = 0; i < 64 * 128; i++) {
        if ((seen += buckets[i]) <= wanted) continue;
        int const shift = i < 256 ? 0 : i / 128 - 1;
        return (double)((uint64_t)(i - shift * 128) << shift) / 1000;
    }
    return 0;
}

/* ---- The server's system calls: the kernel's own counter at their entry, for each of its threads. */

static int counters[threads_max], counter_count;

static long tracepoint_number(void) {
    char const *path = "/sys/kernel/tracing/events/raw_syscalls/sys_enter/id";
    FILE *file = fopen(path, "r");
    if (!file && unshare(CLONE_NEWNS) == 0) { /* mounted for this process alone */
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
        mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL);
        file = fopen(path, "r");
    }
    long number = -1;
    if (file && fscanf(file, "%ld", &number) != 1) number = -1;
    if (file) fclose(file);
    return number;
}

/* Whether it is allowed. */
static bool open_counters(int pid) {
    struct perf_event_attr what = {.type = PERF_TYPE_TRACEPOINT, .size = sizeof what, .inherit = 1};
    long const number = tracepoint_number();
    if (number < 0) return false;
    what.config = (uint64_t)number;
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *threads = opendir(path);
    if (!threads) die(path, errno);
    for (struct dirent *entry; (entry = readdir(threads)) && counter_count < threads_max;) {
        if (entry->d_name[0] == '.') continue;
        int const fd = (int)syscall(SYS_perf_event_open, &what, atoi(entry->d_name), -1, -1, PERF_FLAG_FD_CLOEXEC);
        if (fd >= 0) counters[counter_count++] = fd;
    }
    closedir(threads);
    return counter_count > 0;
}

static uint64_t counted(void) {
    uint64_t sum = 0, value;
    for (int i = 0; i < counter_count; i++) {
        if (read(counters[i], &value, sizeof value) == sizeof value) sum += value;
    }
    return sum;
}

/* ---- The time that is measured. */

static enum { warming_up, measuring, finishing } phase;
static clockid_t server_clock; /* processor time of all its threads, also of those that have ended */
static uint64_t phase_ends, began, ended, measured_ns, server_ns, server_calls;

static void look_at_clock(uint64_t at) {
    if (at < phase_ends || phase == finishing) return;
    uint64_t const server = nanoseconds_of(server_clock);
    if (phase == warming_up) {
        phase = measuring;
        server_ns = server;
        server_calls = counted();
        began = now();
        phase_ends = began + measured_ns;
    } else {
        phase = finishing;
        server_ns = server - server_ns;
        server_calls = counted() - server_calls;
        ended = at;
    }
}

/* Whether the reply is complete and another message is due. */
static bool received(struct connection *on, unsigned bytes, uint64_t at) {
    if ((on->received += bytes) < message_bytes) return false;
    on->received = 0;
    if (phase == measuring && on->sent_at >= began) note_latency(at - on->sent_at);
    on->sent_at = at;
    if (phase == finishing) replies_missing--;
    return phase != finishing;
}

static void echo_by_epoll(void) {
    int const poller = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event events[events_max];
    char buffer[buffer_bytes];
    for (int i = 0; i < connection_count; i++) {
        struct epoll_event interest = {.events = EPOLLIN, .data.u32 = i};
        epoll_ctl(poller, EPOLL_CTL_ADD, connections[i].fd, &interest);
        connections[i].sent_at = now();
        if (send(connections[i].fd, message, message_bytes, 0) != message_bytes) die("send", errno);
    }
    while (replies_missing > 0) {
        int const count = epoll_wait(poller, events, events_max, 1000);
        look_at_clock(now());
        for (int k = 0; k < count; k++) {
            struct connection *on = &connections[events[k].data.u32];
            ssize_t const got = recv(on->fd, buffer, sizeof buffer, MSG_DONTWAIT);
            if (got <= 0) die("receive", got ? errno : ECONNRESET);
            if (received(on, got, now()) && send(on->fd, message, message_bytes, 0) != message_bytes) {
                die("send", errno);
            }
        }
    }
}

#if __has_include(<liburing.h>)
enum { buffer_count = 4096, send_mark = 1 };
static struct io_uring ring;

static struct io_uring_sqe *next_entry(void) {
    struct io_uring_sqe *entry;
    while (!(entry = io_uring_get_sqe(&ring))) io_uring_submit(&ring);
    return entry;
}

static void ask_for_replies(unsigned index) {
    struct io_uring_sqe *entry = next_entry();
    io_uring_prep_recv_multishot(entry, connections[index].fd, NULL, 0, 0);
    entry->flags |= IOSQE_BUFFER_SELECT;
    entry->user_data = (uint64_t)index << 1;
}

static void send_message(unsigned index) {
    struct io_uring_sqe *entry = next_entry();
    io_uring_prep_send(entry, connections[index].fd, message, message_bytes, MSG_WAITALL);
    entry->flags |= IOSQE_CQE_SKIP_SUCCESS;
    entry->user_data = (uint64_t)index << 1 | send_mark;
}

static struct io_uring_buf_ring *provide_buffers(char *memory) {
    struct io_uring_buf_ring *buffers = aligned_alloc(4096, buffer_count * sizeof(struct io_uring_buf));
    struct io_uring_buf_reg registration = {.ring_addr = (uint64_t)buffers, .ring_entries = buffer_count};
    int const failure = io_uring_register_buf_ring(&ring, &registration, 0);
    if (failure) die("buffers", -failure);
    io_uring_buf_ring_init(buffers);
    for (int i = 0; i < buffer_count; i++) {
        io_uring_buf_ring_add(buffers, memory + i * buffer_bytes, buffer_bytes, i, buffer_count - 1, i);
    }
    io_uring_buf_ring_advance(buffers, buffer_count);
    return buffers;
}

/* Whether the system has it. It is preferred, because it takes less of the machine than the servers do. */
static bool echo_by_io_uring(void) {
    struct io_uring_params how = {.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN |
                                           IORING_SETUP_CQSIZE, .cq_entries = 16384};
    if (io_uring_queue_init_params(4096, &ring, &how)) return false;
    io_uring_register_ring_fd(&ring);
    char *memory = aligned_alloc(4096, buffer_count * buffer_bytes);
    struct io_uring_buf_ring *buffers = provide_buffers(memory);
    for (int i = 0; i < connection_count; i++) {
        ask_for_replies(i);
        connections[i].sent_at = now();
        send_message(i);
    }
    while (replies_missing > 0) {
        int const failure = io_uring_submit_and_wait(&ring, 1);
        if (failure < 0 && failure != -EINTR) die("wait", -failure);
        uint64_t const at = now();
        look_at_clock(at);
        unsigned head, events = 0, returned = 0;
        struct io_uring_cqe *event;
        io_uring_for_each_cqe(&ring, head, event) {
            events++;
            unsigned const index = event->user_data >> 1;
            if (event->user_data & send_mark) die("send", event->res < 0 ? -event->res : EIO);
            if (event->res <= 0 && event->res != -ENOBUFS) die("receive", event->res ? -event->res : ECONNRESET);
            if (event->flags & IORING_CQE_F_BUFFER) {
                unsigned const used = event->flags >> IORING_CQE_BUFFER_SHIFT;
                io_uring_buf_ring_add(buffers, memory + used * buffer_bytes, buffer_bytes, used, buffer_count - 1,
                                      returned++);
            }
            if (!(event->flags & IORING_CQE_F_MORE)) ask_for_replies(index);
            if (event->res > 0 && received(&connections[index], event->res, at)) send_message(index);
        }
        io_uring_buf_ring_advance(buffers, returned);
        io_uring_cq_advance(&ring, events);
    }
    return true;
}
#else
static bool echo_by_io_uring(void) { return false; }
#endif

static int connected(int port) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int const fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
    if (fd < 0 || connect(fd, (void *)&to, sizeof to)) die("connect", errno);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

int main(int count, char **arguments) {
    if (count < 5) return 2;
    int const port = atoi(arguments[1]), server = atoi(arguments[4]);
    bool const counts = count > 5;
    connection_count = replies_missing = atoi(arguments[2]);
    measured_ns = (uint64_t)(atof(arguments[3]) * 1e9);
    connections = calloc(connection_count, sizeof *connections);
    memset(message, 'x', sizeof message);
    alarm(30 + atoi(arguments[3])); /* a server that does not answer is a failure, not a wait */
    for (int i = 0; i < connection_count; i++) connections[i].fd = connected(port);
    if (clock_getcpuclockid(server, &server_clock)) die("the server's clock", ESRCH);
    if (counts && !open_counters(server)) return 0; /* prints nothing: not allowed to count */
    phase_ends = now() + measured_ns / 4;
    if (!echo_by_io_uring()) echo_by_epoll();
    if (counts) {
        printf("syscalls_per_request count %.5f\n", (double)server_calls / replies);
        return 0;
    }
    printf("cpu_us_per_request us %.4f\n", server_ns / 1e3 / replies);
    printf("server_busy %% %.1f\n", 100.0 * server_ns / (ended - began));
    printf("requests_per_s 1/s %.0f\n", replies / ((ended - began) / 1e9));
    printf("p50_us us %.2f\np99_us us %.2f\n", percentile_us(.5), percentile_us(.99));
    return 0;
}
