// expect: the result comes back, so it is not bound to the other worker
#include <pitsaw/io/buffer_pool.hpp>
#include <pitsaw/scope/with_executor.hpp>

#include <optional>

pitsaw::task<std::optional<pitsaw::lease>> receive() { co_return std::nullopt; }
pitsaw::task<int> count() { co_return 1; }

pitsaw::task<> ask(pitsaw::executor_ref other) {
#ifdef PITSAW_COMPILE_FAIL
    auto const got = co_await pitsaw::with_executor(other, receive);
#else
    auto const got = co_await pitsaw::with_executor(other, count);
#endif
    (void)got;
}
