#include "os/linux/thread_name.hpp"

#include <algorithm>
#include <array>
#include <sys/prctl.h>

namespace pitsaw::inline v0 {

void set_thread_name(std::string_view const name) noexcept {
    std::array<char, 16> text{};
    std::ranges::copy(name.substr(0, text.size() - 1), text.begin());
    (void)prctl(PR_SET_NAME, text.data()); // a name is a convenience
}

} // namespace pitsaw::inline v0
