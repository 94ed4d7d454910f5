/* bulk_load PORT CONNECTIONS SECONDS PID SENT RECEIVED
 *
 * Each connection, with a thread of its own, sends SENT bytes, waits for the RECEIVED bytes of the answer, and begins
 * again. Prints what an exchange cost the server PID in processor time; before it measures it warms up for a quarter of
 * SECONDS. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static void die(char const *what, int error) {
    fprintf(stderr, "bulk_load: %s: %s\n", what, strerror(error));
    exit(1);
}

static uint64_t nanoseconds_of(clockid_t clock) {
    struct timespec at;
    if (clock_gettime(clock, &at)) die("clock", errno);
    return at.tv_sec * 1000000000ull + at.tv_nsec;
}

enum { part_bytes = 256 << 10 };
static char part[part_bytes];

static int port;
static size_t asked_bytes, answered_bytes;
static atomic_ullong exchanges;

static void exchange(int fd) {
    static _Thread_local char answer[part_bytes];
    for (size_t left = asked_bytes; left > 0;) {
        ssize_t const went = send(fd, part, left < part_bytes ? left : part_bytes, 0);
        if (went < 0 && errno != EINTR) die("send", errno);
        if (went > 0) left -= went;
    }
    for (size_t left = answered_bytes; left > 0;) {
        ssize_t const got = recv(fd, answer, left < part_bytes ? left : part_bytes, 0);
        if (got == 0 || (got < 0 && errno != EINTR)) die("receive", got ? errno : ECONNRESET);
        if (got > 0) left -= got;
    }
    exchanges++;
}

static void *converse(void *nothing) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int const fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
    if (fd < 0 || connect(fd, (void *)&to, sizeof to)) die("connect", errno);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    for (;;) exchange(fd); /* until the program ends */
    return nothing;
}

/* Lets the others go on; a program that is stopped meanwhile is late by that. */
static void wait_for(uint64_t ns) {
    struct timespec left = {.tv_sec = ns / 1000000000u, .tv_nsec = ns % 1000000000u};
    while (nanosleep(&left, &left)) {}
}

int main(int count, char **arguments) {
    if (count != 7) return 2;
    port = atoi(arguments[1]);
    uint64_t const measured_ns = (uint64_t)(atof(arguments[3]) * 1e9);
    asked_bytes = strtoull(arguments[5], NULL, 10);
    answered_bytes = strtoull(arguments[6], NULL, 10);
    clockid_t server_clock; /* processor time of all its threads, also of those that have ended */
    if (clock_getcpuclockid(atoi(arguments[4]), &server_clock)) die("the server's clock", ESRCH);
    memset(part, 'x', sizeof part);
    alarm(30 + atoi(arguments[3])); /* a server that does not answer is a failure, not a wait */
    for (int i = atoi(arguments[2]); i > 0; i--) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, converse, NULL)) die("thread", EAGAIN);
    }

    wait_for(measured_ns / 4);
    uint64_t const server_ns = nanoseconds_of(server_clock), began = nanoseconds_of(CLOCK_MONOTONIC), before = exchanges;
    wait_for(measured_ns);
    double const took_ns = (double)(nanoseconds_of(server_clock) - server_ns);
    uint64_t const done = exchanges - before, ended = nanoseconds_of(CLOCK_MONOTONIC);
    if (done == 0) die("no exchange was completed", ETIMEDOUT);
    printf("cpu_us_per_request us %.4f\n", took_ns / 1e3 / done);
    printf("server_busy %% %.1f\n", 100.0 * took_ns / (ended - began));
    return 0;
}
