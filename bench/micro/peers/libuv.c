/* libuv's timers: a million armed with spread deadlines, then stopped. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <uv.h>

static double cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1e9 + now.tv_nsec;
}

static void on_expired(uv_timer_t *timer) { (void)timer; }

int main(int count, char **arguments) {
    enum { timers = 1000000 };
    if (count != 2 || strcmp(arguments[1], "timer_arm_cancel") != 0) return 2;
    uv_loop_t *loop = uv_default_loop();
    uv_timer_t *all = malloc(sizeof *all * timers);
    for (int i = 0; i < timers; i++) uv_timer_init(loop, &all[i]);
    double begun = cpu_ns();
    for (int i = 0; i < timers; i++) uv_timer_start(&all[i], on_expired, 10000 + i * 7919ull % 50000, 0);
    for (int i = 0; i < timers; i++) uv_timer_stop(&all[i]);
    printf("time ns/op %.3f\n", (cpu_ns() - begun) / timers);
    return 0;
}
