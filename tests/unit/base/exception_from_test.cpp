#include <pitsaw/base/exception_from.hpp>

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

namespace {

using pitsaw::exception_from;

TEST(exception_from, keeps_what_was_made) {
    auto const made = exception_from([] { return std::runtime_error("boom"); });
    EXPECT_THROW(std::rethrow_exception(made), std::runtime_error);
}

TEST(exception_from, keeps_why_it_could_not_be_made) {
    auto const made = exception_from([]() -> std::runtime_error { throw std::bad_alloc(); });
    EXPECT_THROW(std::rethrow_exception(made), std::bad_alloc);
}

} // namespace
