#include <pitsaw/io/writable.hpp>

#include <pitsaw/pitsaw.hpp>

#include "memory_streams.hpp"
#include "stream_pair.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <span>

namespace ps = pitsaw;

namespace {

struct gives_nothing {
    ps::task<> send(std::span<std::byte const>);
};
struct wants_to_write_to_its_source {
    ps::task<ps::io_result<std::size_t>> send(std::span<std::byte>);
};

static_assert(ps::writable<ps::tcp_stream>);
static_assert(ps::writable<ps::any_stream>);
static_assert(ps::writable<ps::testing::text_sink>);
static_assert(!ps::writable<ps::testing::text_source>);
static_assert(!ps::writable<ps::buffered_reader<ps::tcp_stream>>);
static_assert(!ps::writable<gives_nothing>);
static_assert(!ps::writable<wants_to_write_to_its_source>);

template <ps::writable Sink> ps::task<ps::io_result<std::size_t>> greet(Sink& to) {
    co_return co_await to.send(ps::testing::bytes_of("hello"));
}

TEST(writable, a_template_writes_to_any_sink) {
    ps::testing::text_sink sink;
    EXPECT_EQ(ps::sync_wait(greet(sink)).value().value(), 2u);
    EXPECT_EQ(sink.text, "he");
}

} // namespace
