#include "os/posix/thread.hpp"

#include "os/posix/termination_signals.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <memory>
#include <new>
#include <pthread.h>
#include <type_traits>
#include <unistd.h>

namespace pitsaw::inline v0 {
namespace {

static_assert(std::is_same_v<pthread_t, unsigned long>);

struct start_of_thread {
    void (*run)(void*) noexcept;
    void* with;
};

void* begin(void* const given) {
    auto const start = *std::unique_ptr<start_of_thread>(static_cast<start_of_thread*>(given));
    start.run(start.with);
    return nullptr;
}

} // namespace

thread_end thread_end::of_this_thread() noexcept {
    thread_end mine;
    mine.thread_ = pthread_self();
    mine.is_one_ = true;
    return mine;
}

void thread_end::wait() const noexcept {
    if (is_one_) pthread_join(thread_, nullptr);
}

int start_thread(void (*const run)(void*) noexcept, void* const with,
                 std::size_t const stack_bytes) noexcept {
    std::unique_ptr<start_of_thread> start(new (std::nothrow) start_of_thread{run, with});
    if (start == nullptr) return -ENOMEM;
    pthread_attr_t attributes;
    if (auto const error = pthread_attr_init(&attributes); error != 0) return -error;
    int error = 0;
    if (stack_bytes != 0) {
        auto const least = static_cast<std::size_t>(std::max(sysconf(_SC_THREAD_STACK_MIN), 16384L));
        error = pthread_attr_setstacksize(&attributes, std::max(stack_bytes, least));
    }
    if (error == 0) {
        all_signals_blocked const inherited;
        pthread_t ignored;
        error = pthread_create(&ignored, &attributes, begin, start.get());
    }
    pthread_attr_destroy(&attributes);
    if (error != 0) return -error;
    (void)start.release(); // the thread has it
    return 0;
}

} // namespace pitsaw::inline v0
