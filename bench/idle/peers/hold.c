/* hold PORT CONNECTIONS MESSAGES [http]: opens them to 127.0.0.1, has so many 64-byte messages echoed on each, or so
 * many requests answered, prints "ready" and holds them, idle, until its standard input ends.
 *
 * 4,000 connections share a source address, for the ports of one do not suffice. Connections that the server closed
 * first are reset, so that none lingers in the kernel. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { message_bytes = 64, connections_per_address = 4000, at_once = 100 };

static void die(char const *what, int number) {
    fprintf(stderr, "hold: connection %d: %s: %s\n", number, what, strerror(errno));
    exit(1);
}

static int connected(int number, int port) {
    int const fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
    if (fd < 0) die("socket", number);
    unsigned const source = 0x7f010001u + number / connections_per_address; /* 127.1.0.1 and on */
    struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(source)};
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof one);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (bind(fd, (struct sockaddr *)&from, sizeof from)) die("bind", number);
    if (connect(fd, (struct sockaddr *)&to, sizeof to)) die("connect", number);
    return fd;
}

static char const request[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", body[] = "Hello, world!";

/* Whether all of an answer has come, which the benchmark's servers send in one piece. */
static int is_answered(int fd) {
    char answer[1024];
    ssize_t const size = recv(fd, answer, sizeof answer - 1, 0);
    return size > (ssize_t)sizeof body && memcmp(answer + size - (sizeof body - 1), body, sizeof body - 1) == 0;
}

/* A message on each of some connections: one by one the server would sleep in between. */
static void exchange(int const *fds, int first, int end, int is_http) {
    char message[message_bytes] = "idle from now on";
    char const *const sent = is_http ? request : message;
    ssize_t const size = is_http ? sizeof request - 1 : sizeof message;
    for (int number = first; number < end; number++) {
        if (send(fds[number], sent, size, 0) != size) die("send", number);
    }
    for (int number = first; number < end; number++) {
        if (is_http ? !is_answered(fds[number]) : recv(fds[number], message, sizeof message, MSG_WAITALL) != size)
            die("receive", number);
    }
}

static void reset_if_closed(int fd) {
    struct linger const reset = {.l_onoff = 1, .l_linger = 0};
    char byte;
    if (recv(fd, &byte, 1, MSG_DONTWAIT) == 0) setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
}

int main(int count, char **arguments) {
    if (count != 4 && count != 5) return 2;
    int const port = atoi(arguments[1]), connections = atoi(arguments[2]), messages = atoi(arguments[3]);
    alarm(60); /* a server that does not answer is a failure, not a wait */
    int *fds = calloc(connections, sizeof *fds);
    for (int first = 0, end; first < connections; first = end) {
        end = first + at_once < connections ? first + at_once : connections;
        for (int number = first; number < end; number++) fds[number] = connected(number, port);
        for (int message = 0; message < messages; message++) exchange(fds, first, end, count == 5);
    }
    alarm(0);
    puts("ready");
    fflush(stdout);
    for (char byte; read(0, &byte, 1) > 0;) {}
    for (int number = 0; number < connections; number++) reset_if_closed(fds[number]);
    return 0;
}
