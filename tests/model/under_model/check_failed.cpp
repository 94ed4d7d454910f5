#include <pitsaw/base/check.hpp>
#include <pitsaw/model/explore.hpp>

namespace pitsaw::inline v0 {

void check_failed(char const* what, std::source_location where) noexcept { model::fail(what, where); }

} // namespace pitsaw::inline v0
