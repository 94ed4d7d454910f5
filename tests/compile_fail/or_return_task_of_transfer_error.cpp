// expect: or_return would lose how much was transferred
#include <pitsaw/io/result.hpp>
#include <pitsaw/task/or_return.hpp>
#include <pitsaw/task/task.hpp>

#include <utility>

using transferred = std::expected<int, pitsaw::transfer_error>;

pitsaw::task<pitsaw::io_result<int>> use(pitsaw::task<transferred> copying) {
#ifdef PITSAW_COMPILE_FAIL
    int const value = co_await pitsaw::or_return(std::move(copying));
#else
    auto result = co_await std::move(copying);
    int const value = co_await pitsaw::or_return(pitsaw::forget_progress(std::move(result)));
#endif
    co_return value;
}
