#include "gateway/access_log.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <thread>

namespace {

/// A folder of the test's own.
struct folder {
    std::string path = [] {
        char made[] = "/tmp/access_log_test.XXXXXX";
        return std::string(::mkdtemp(made));
    }();
    folder() = default;
    folder(folder&&) = delete;
    ~folder() { std::filesystem::remove_all(path); }
};

TEST(access_log, has_every_line_in_order_when_it_ends) {
    folder const in;
    std::string expected;
    {
        gateway::access_log log(in.path + "/log");
        for (int i = 0; i < 1000; ++i) {
            log.write("line " + std::to_string(i));
            expected += "line " + std::to_string(i) + "\n";
        }
        EXPECT_EQ(log.dropped(), 0U);
    }
    std::ifstream from(in.path + "/log");
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(from), {}), expected);
}

TEST(access_log, that_nobody_reads_drops_lines_and_holds_up_nobody) { // LG14
    folder const in;
    auto const pipe = in.path + "/pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    int const reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ASSERT_GE(reader, 0);
    {
        gateway::access_log log(pipe);
        std::string const line(1000, 'x');
        for (int i = 0; i < 10'000; ++i) log.write(line); // ten times what it keeps waiting
        EXPECT_GE(log.dropped(), 7'500U);                 // as much again may be on its way, and a pipe's own
    } // ends although nobody reads
    ::close(reader);
}

TEST(access_log, whose_file_is_renamed_goes_on_under_its_name) {
    folder const in;
    auto const path = in.path + "/log";
    auto const until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    auto const wait_for = [&](auto const& has_happened) {
        while (!has_happened() && std::chrono::steady_clock::now() < until)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return has_happened();
    };
    gateway::access_log log(path);
    log.write("old");
    EXPECT_TRUE(wait_for([&] { return std::filesystem::file_size(path) == 4; }));
    std::filesystem::rename(path, path + ".1");
    EXPECT_TRUE(wait_for([&] { return std::filesystem::exists(path); })); // though nothing is written
    log.write("new");
    EXPECT_TRUE(wait_for([&] { return std::filesystem::file_size(path) == 4; }));
    EXPECT_EQ(std::filesystem::file_size(path + ".1"), 4U);
}

TEST(access_log, that_cannot_be_opened_is_an_error) {
    EXPECT_THROW(gateway::access_log("/nowhere/log"), std::system_error);
}

TEST(access_log, is_nothing_where_none_is_wanted) {
    gateway::access_log log("");
    log.write("a line");
    EXPECT_EQ(log.dropped(), 0U);
}

} // namespace
