// expect: what this gives would outlive its runtime
#include <pitsaw/io/result.hpp>
#include <pitsaw/net/tcp_stream.hpp>
#include <pitsaw/task/sync_wait.hpp>
#include <pitsaw/task/task.hpp>

pitsaw::task<pitsaw::io_result<pitsaw::tcp_stream>> open() { co_return pitsaw::tcp_stream(); }

int main() {
#ifdef PITSAW_COMPILE_FAIL
    auto const opened = pitsaw::sync_wait(open());
#else
    pitsaw::runtime rt;
    auto const opened = pitsaw::sync_wait(rt, open());
#endif
    return opened.has_value() ? 0 : 1;
}
