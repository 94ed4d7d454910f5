#include <pitsaw/io/readable.hpp>

#include <pitsaw/pitsaw.hpp>

#include "memory_streams.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <span>

namespace ps = pitsaw;

namespace {

struct gives_an_int {
    ps::task<int> receive(std::span<std::byte>);
};
struct gives_a_plain_result { // not awaited
    ps::io_result<std::size_t> receive(std::span<std::byte>);
};
struct wants_constant_bytes {
    ps::task<ps::io_result<std::size_t>> receive(std::span<std::byte const>);
};

// Whether the receive is an operation, a task or a scope does not matter.
static_assert(ps::readable<ps::tcp_stream>);
static_assert(ps::readable<ps::any_stream>);
static_assert(ps::readable<ps::buffered_reader<ps::tcp_stream>>);
static_assert(ps::readable<ps::testing::text_source>);
static_assert(ps::readable<wants_constant_bytes>);
static_assert(!ps::readable<ps::testing::text_sink>);
static_assert(!ps::readable<ps::tcp_listener>);
static_assert(!ps::readable<gives_an_int>);
static_assert(!ps::readable<gives_a_plain_result>);

template <ps::readable Source> ps::task<std::size_t> count(Source& from) {
    std::byte into[2];
    std::size_t total = 0;
    for (;;) {
        auto const got = co_await from.receive(into);
        if (!got.has_value() || *got == 0) co_return total;
        total += *got;
    }
}

TEST(readable, a_template_reads_from_any_source_to_its_end) {
    ps::testing::text_source source{"seven b"};
    EXPECT_EQ(ps::sync_wait(count(source)).value(), 7u);
}

} // namespace
