// The code of docs/guide/recorder.md; docs.snippets compares.
#include <pitsaw/pitsaw.hpp>
#include <pitsaw/sim/replay.hpp>

#include <gtest/gtest.h>

#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <string>

namespace ps = pitsaw;
namespace sim = pitsaw::sim;
using namespace std::chrono_literals;

namespace {

int served = 0;

ps::task<void> serve() {
    for (served = 0; served < 10; ++served) co_await ps::sleep(1s);
}

void execute_again(std::string const& path) {
    auto saved = sim::recording::read(path);
    if (!saved) throw std::runtime_error(saved.error());
    sim::replay again(std::move(*saved)); // a second argument: the options of the recorded runtime
    (void)again.run(serve());             // what the recorded runtime ran: its check fails again, here
    if (!again.divergence().empty()) throw std::runtime_error(again.divergence());
}

TEST(recorder_guide, its_code_runs) {
    ps::runtime_options options;
    options.recorder.records = 1 << 16;     // of 32 bytes each; 0: none
    options.recorder.input_bytes = 1 << 24; // also keeps what the driver answered, to execute it again
    ps::runtime rt(options);
    (void)ps::sync_wait(rt, serve());
    auto const path = ::testing::TempDir() + "pitsaw_guide_" + std::to_string(::getpid());
    ASSERT_EQ(rt.save_record(path.c_str()), std::error_code());
    served = 0;
    EXPECT_NO_THROW(execute_again(path));
    EXPECT_EQ(served, 10);
    EXPECT_EQ(::unlink(path.c_str()), 0);
    EXPECT_THROW(execute_again(path), std::runtime_error);
}

} // namespace
