#include <pitsaw/base/check.hpp>
#include <pitsaw/base/clock.hpp>

int main() {
    auto const later = pitsaw::saturating_add(pitsaw::time_point{}, pitsaw::duration::max());
    pitsaw::check(later == pitsaw::never, "the library is linked");
}
