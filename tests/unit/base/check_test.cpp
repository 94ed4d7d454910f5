#include <pitsaw/base/check.hpp>

#include <gtest/gtest.h>

namespace {

using namespace pitsaw;

TEST(check, a_kept_promise_costs_a_branch_and_does_nothing) {
    check(true, "not printed");
    debug_check(true, "not printed");
    static_assert((check(true, "usable in constant expressions"), true));
}

TEST(check_death_test, a_broken_promise_names_what_and_where) {
    EXPECT_DEATH(check(false, "seven is not eight"),
                 "check_test\\.cpp:[0-9]+: seven is not eight\n +in .*TestBody");
}

#ifndef NDEBUG
TEST(check_death_test, a_debug_check_names_its_own_caller) {
    EXPECT_DEATH(debug_check(false, "seven is not nine"), "check_test\\.cpp:[0-9]+: seven is not nine");
}
#endif

} // namespace
