// expect: what goes to another worker is not bound to this one
#include <pitsaw/io/buffer_pool.hpp>
#include <pitsaw/scope/with_executor.hpp>

#include <span>

pitsaw::task<int> counts(std::span<pitsaw::lease> all) { co_return static_cast<int>(all.size()); }
pitsaw::task<int> counts_bytes(std::span<char> all) { co_return static_cast<int>(all.size()); }

auto hand_over(pitsaw::executor_ref other, std::span<pitsaw::lease> leases, std::span<char> bytes) {
#ifdef PITSAW_COMPILE_FAIL
    (void)bytes;
    return pitsaw::with_executor(other, counts, leases);
#else
    (void)leases;
    return pitsaw::with_executor(other, counts_bytes, bytes);
#endif
}
