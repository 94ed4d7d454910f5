// expect: what goes to another worker is not bound to this one
#include <pitsaw/scope/with_executor.hpp>

#include <memory>

/// Kept on one strand; its users say so.
struct session {
    using bound_to_worker = void;
};

pitsaw::task<> use(std::shared_ptr<session>) { co_return; }
pitsaw::task<> count(std::shared_ptr<int>) { co_return; }

auto hand_over(pitsaw::executor_ref other, std::shared_ptr<session> mine, std::shared_ptr<int> number) {
#ifdef PITSAW_COMPILE_FAIL
    (void)number;
    return pitsaw::with_executor(other, use, mine);
#else
    (void)mine;
    return pitsaw::with_executor(other, count, number);
#endif
}
