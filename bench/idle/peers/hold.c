/* hold PORT CONNECTIONS MESSAGES: opens them to 127.0.0.1, has so many 64-byte messages echoed on each, prints "ready"
 * and holds them, idle, until its standard input ends.
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

/* A message on each of some connections: one by one the server would sleep in between. */
static void exchange(int const *fds, int first, int end) {
    char message[message_bytes] = "idle from now on";
    for (int number = first; number < end; number++) {
        if (send(fds[number], message, sizeof message, 0) != sizeof message) die("send", number);
    }
    for (int number = first; number < end; number++) {
        if (recv(fds[number], message, sizeof message, MSG_WAITALL) != sizeof message) die("receive", number);
    }
}

static void reset_if_closed(int fd) {
    struct linger const reset = {.l_onoff = 1, .l_linger = 0};
    char byte;
    if (recv(fd, &byte, 1, MSG_DONTWAIT) == 0) setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
}

int main(int count, char **arguments) {
    if (count != 4) return 2;
    int const port = atoi(arguments[1]), connections = atoi(arguments[2]), messages = atoi(arguments[3]);
    alarm(60); /* a server that does not answer is a failure, not a wait */
    int *fds = calloc(connections, sizeof *fds);
    for (int first = 0, end; first < connections; first = end) {
        end = first + at_once < connections ? first + at_once : connections;
        for (int number = first; number < end; number++) fds[number] = connected(number, port);
        for (int message = 0; message < messages; message++) exchange(fds, first, end);
    }
    alarm(0);
    puts("ready");
    fflush(stdout);
    for (char byte; read(0, &byte, 1) > 0;) {}
    for (int number = 0; number < connections; number++) reset_if_closed(fds[number]);
    return 0;
}
