#pragma once
#include <pitsaw/base/clock.hpp>

#include <cstdint>
#include <exception>

namespace pitsaw::inline v0 {

/// Writes a line to stderr for each exception that nobody receives, ten in a second, and then how many more:
/// a server whose clients break off by the thousand is to say so, not to fill a disk.
///
/// Lifetime: within a worker. Threads: the worker's. Errors: none.
class lost_error_lines {
  public:
    void tell(std::exception_ptr error, time_point now) noexcept;
    void tell_of_untold() noexcept;

  private:
    time_point since_; ///< the second that the two below count in
    std::uint32_t told_ = 0;
    std::uint64_t untold_ = 0;
};

} // namespace pitsaw::inline v0
