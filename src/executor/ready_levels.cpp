#include <pitsaw/executor/ready_levels.hpp>

#include <utility>

namespace pitsaw::inline v0 {

ready_queue::entry ready_levels::pop_by_level() noexcept {
    std::size_t next = priority_count;
    for (std::size_t each = 0; each < priority_count; ++each) {
        if (queues_[each].empty()) {
            passed_over_[each] = 0; // nothing of it has waited
        } else if (next == priority_count) {
            next = each;
        } else if (++passed_over_[each] > turns_max) {
            next = each; // a lower one that is due as well is so at the next turn
            break;
        }
    }
    passed_over_[next] = 0;
    return queues_[next].pop();
}

} // namespace pitsaw::inline v0
