#pragma once
#include "loop/fork_lane.hpp"

#include "bare_executor.hpp"

namespace pitsaw::testing {

/// The lane of a worker that has no loop.
struct lone_lane {
    bare_executor worker;
    fork_lane lane{worker};
};

} // namespace pitsaw::testing
