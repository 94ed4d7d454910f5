#pragma once
#include <pitsaw/model/explore.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <utility>

namespace pitsaw::testing {

using outcome_set = std::set<std::string>;

/// Takes down what a run has seen, one figure for each value.
class outcome_text {
  public:
    explicit outcome_text(outcome_set& all) : all_(all) {}
    template <class... Values> void operator()(Values... values) {
        std::string text;
        ((text += static_cast<char>('0' + static_cast<int>(values))), ...);
        all_.insert(text);
    }

  private:
    outcome_set& all_;
};

/// The outcomes of all runs of `body`, none of which fails. Found twice, with the reduction and without, and
/// the same.
inline auto outcomes_of(std::function<void(outcome_text&)> const& body, bool compare = true) -> outcome_set {
    auto const with = [&](model::options const& how) {
        outcome_set all;
        outcome_text seen(all);
        auto const found = model::explore(how, [&] { body(seen); });
        EXPECT_EQ(found.failure, "") << found.trace;
        EXPECT_TRUE(found.is_complete);
        return all;
    };
    auto reduced = with({});
    if (compare) {
        model::options every;
        every.reduces = false;
        EXPECT_EQ(with(every), reduced);
    }
    return reduced;
}

} // namespace pitsaw::testing
