#include "loop/lost_error_lines.hpp"

#include <chrono>
#include <cstdio>
#include <utility>

namespace pitsaw::inline v0 {

namespace {
constexpr std::uint32_t told_max = 10; // in a second
} // namespace

void lost_error_lines::tell(std::exception_ptr error, time_point const now) noexcept {
    if (saturating_difference(now, since_) >= std::chrono::seconds(1)) {
        tell_of_untold();
        since_ = now;
    }
    if (told_ == told_max) {
        ++untold_;
        return;
    }
    ++told_;
    try {
        std::rethrow_exception(std::move(error));
    } catch (std::exception const& what) {
        std::fprintf(stderr, "pitsaw: lost error: %s\n", what.what());
    } catch (...) {
        std::fputs("pitsaw: lost error of an unknown type\n", stderr);
    }
}

void lost_error_lines::tell_of_untold() noexcept {
    if (untold_ != 0)
        std::fprintf(stderr, "pitsaw: and %llu lost errors more\n", static_cast<unsigned long long>(untold_));
    told_ = 0;
    untold_ = 0;
}

} // namespace pitsaw::inline v0
