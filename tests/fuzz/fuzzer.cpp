// One fuzzer of libFuzzer: PITSAW_FUZZ_TARGET is the function that it feeds.
#include "fuzz/targets.hpp"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* bytes, std::size_t size) {
    pitsaw::fuzz::PITSAW_FUZZ_TARGET({reinterpret_cast<char const*>(bytes), size});
    return 0;
}
