#include "gateway/shared_state.hpp"

#include <utility>

namespace gateway {

shared_state::shared_state(config of, surroundings in)
    : how(std::move(of)), with(std::move(in)), calls(with.log, with.clock),
      bodies(how.spool_folder, how.spool_bytes_max) {
    for (auto const& one : how.providers) calls.know(one.name);
}

std::string shared_state::metrics_text() const { return calls.metrics_text(with.log_lines_dropped()); }

} // namespace gateway
