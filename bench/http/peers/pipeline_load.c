/* pipeline_load PORT CONNECTIONS DEPTH SECONDS PID: each connection sends DEPTH requests in one write, and again when
 * all of them are answered. Prints the answers a second and what they cost the server PID.
 *
 * wrk parses every answer, and then takes longer than the servers. This one looks at the first answer, and counts the
 * bytes of the others, which have as many. It warms up for a quarter of SECONDS. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { depth_max = 64, connections_max = 4096, events_max = 512, buffer_bytes = 65536 };
static char const request[] = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", body[] = "Hello, world!";
static char requests[depth_max * sizeof request], buffer[buffer_bytes];
static size_t request_bytes, answer_bytes, missing[connections_max]; /* of the answers on their way */
static int fds[connections_max], depth;

static void die(char const *what) {
    fprintf(stderr, "pipeline_load: %s: %s\n", what, strerror(errno));
    exit(1);
}

static uint64_t nanoseconds_of(clockid_t clock) {
    struct timespec at;
    if (clock_gettime(clock, &at)) die("clock");
    return at.tv_sec * 1000000000ull + at.tv_nsec;
}

static int connected(int port) {
    int const fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    struct sockaddr_in const to = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(fd, (struct sockaddr const *)&to, sizeof to)) die("connect");
    return fd;
}

/* One request by itself: how long its answer is. */
static void learn(int fd) {
    if (send(fd, request, sizeof request - 1, 0) < 0) die("send");
    for (;;) {
        ssize_t const size = recv(fd, buffer + answer_bytes, sizeof buffer - answer_bytes, 0);
        if (size <= 0) die("the first answer");
        answer_bytes += size;
        if (memmem(buffer, answer_bytes, body, sizeof body - 1)) break;
    }
    if (memcmp(buffer, "HTTP/1.1 200", 12)) die("the first answer is no 200");
}

static void send_all(int number) {
    if (send(fds[number], requests, request_bytes, 0) != (ssize_t)request_bytes) die("send");
    missing[number] = depth * answer_bytes;
}

int main(int count, char **arguments) {
    if (count != 6) return 2;
    int const connections = atoi(arguments[2]);
    depth = atoi(arguments[3]);
    if (connections > connections_max || depth > depth_max) return 2;
    uint64_t const measured_ns = (uint64_t)(atof(arguments[4]) * 1e9);
    clockid_t const server_clock = (clockid_t)(~(unsigned)atoi(arguments[5]) << 3 | 2); /* clock_getcpuclockid(3) */
    for (int i = 0; i < depth; i++) memcpy(requests + i * (sizeof request - 1), request, sizeof request - 1);
    request_bytes = depth * (sizeof request - 1);
    int const poll = epoll_create1(0);
    for (int i = 0; i < connections; i++) {
        struct epoll_event what = {.events = EPOLLIN, .data.u32 = i};
        fds[i] = connected(atoi(arguments[1]));
        if (i == 0) learn(fds[0]);
        if (epoll_ctl(poll, EPOLL_CTL_ADD, fds[i], &what)) die("epoll_ctl");
        send_all(i);
    }
    uint64_t answered = 0, began = 0, server_ns = 0;
    uint64_t ends = nanoseconds_of(CLOCK_MONOTONIC) + measured_ns / 4;
    for (;;) {
        struct epoll_event events[events_max];
        int const ready = epoll_wait(poll, events, events_max, 5000);
        if (ready == 0 || (ready < 0 && errno != EINTR)) die("the server is silent"); /* a stop interrupts it */
        for (int i = 0; i < ready; i++) {
            unsigned const number = events[i].data.u32;
            ssize_t const size = recv(fds[number], buffer, sizeof buffer, 0);
            if (size <= 0 || (size_t)size > missing[number]) die("answers of another length");
            if ((missing[number] -= size) != 0) continue;
            answered += depth;
            send_all(number);
        }
        uint64_t const now = nanoseconds_of(CLOCK_MONOTONIC);
        if (now < ends) continue;
        if (began != 0) {
            server_ns = nanoseconds_of(server_clock) - server_ns;
            printf("requests_per_s 1/s %.0f\n", answered * 1e9 / (now - began));
            printf("cpu_us_per_request us %.4f\n", server_ns / 1e3 / answered);
            printf("server_busy %% %.1f\n", 100.0 * server_ns / (now - began));
            return 0;
        }
        began = now;
        ends = began + measured_ns;
        answered = 0;
        server_ns = nanoseconds_of(server_clock);
    }
}
