/* libuv ADDRESS PORT: one buffer for all reads, and a write at once where the socket takes it. */
#include <stdlib.h>
#include <string.h>
#include <uv.h>

struct late_write {
    uv_write_t request;
    char bytes[];
};

static char shared[65536];

static void give_buffer(uv_handle_t *peer, size_t wanted, uv_buf_t *buffer) {
    (void)peer, (void)wanted;
    *buffer = uv_buf_init(shared, sizeof shared);
}

static void on_closed(uv_handle_t *peer) { free(peer); }

static void on_written(uv_write_t *request, int status) {
    (void)status;
    free(request);
}

static void on_read(uv_stream_t *peer, ssize_t count, uv_buf_t const *buffer) {
    if (count < 0) uv_close((uv_handle_t *)peer, on_closed);
    if (count <= 0) return;
    uv_buf_t rest = uv_buf_init(buffer->base, count);
    int const written = uv_try_write(peer, &rest, 1);
    if (written == count) return;
    if (written > 0) rest = uv_buf_init(rest.base + written, rest.len - written);
    struct late_write *late = malloc(sizeof *late + rest.len);
    rest.base = memcpy(late->bytes, rest.base, rest.len);
    uv_write(&late->request, peer, &rest, 1, on_written);
}

static void on_connection(uv_stream_t *listener, int status) {
    if (status < 0) return;
    uv_tcp_t *peer = malloc(sizeof *peer);
    uv_tcp_init(listener->loop, peer);
    if (uv_accept(listener, (uv_stream_t *)peer)) {
        uv_close((uv_handle_t *)peer, on_closed);
        return;
    }
    uv_tcp_nodelay(peer, 1);
    uv_read_start((uv_stream_t *)peer, give_buffer, on_read);
}

int main(int count, char **arguments) {
    if (count != 3) return 2;
    uv_loop_t *loop = uv_default_loop();
    uv_tcp_t listener;
    struct sockaddr_in at;
    uv_tcp_init(loop, &listener);
    uv_ip4_addr(arguments[1], atoi(arguments[2]), &at);
    uv_tcp_bind(&listener, (struct sockaddr const *)&at, 0);
    if (uv_listen((uv_stream_t *)&listener, 4096, on_connection)) return 1;
    return uv_run(loop, UV_RUN_DEFAULT);
}
