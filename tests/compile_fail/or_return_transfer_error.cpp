// expect: or_return would lose how much was transferred
#include <pitsaw/io/result.hpp>
#include <pitsaw/task/or_return.hpp>
#include <pitsaw/task/task.hpp>

#include <utility>

pitsaw::task<pitsaw::io_result<int>> use(std::expected<int, pitsaw::transfer_error> result) {
#ifdef PITSAW_COMPILE_FAIL
    int const value = co_await pitsaw::or_return(std::move(result));
#else
    int const value = co_await pitsaw::or_return(pitsaw::forget_progress(std::move(result)));
#endif
    co_return value;
}
