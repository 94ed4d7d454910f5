#pragma once
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>

/// The program `pitsaw`, as a user starts it.
namespace pitsaw::cli_tests {

struct answer {
    int status = -1;
    std::string text;
};

/// Runs the program with these words; `prepare` changes the process that becomes it.
template <class Prepare> auto run(std::initializer_list<char const*> words, Prepare prepare) -> answer {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return {};
    auto const child = fork();
    if (child == 0) {
        unsetenv("PITSAW_DRIVER");
        ::dup2(ends[1], 1);
        ::dup2(ends[1], 2);
        (void)::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC); // what the caller of the tests left open
        std::array<char*, 8> arguments = {};
        std::size_t count = 0;
        for (auto const* const each : words) arguments[count++] = const_cast<char*>(each);
        if (!prepare()) _exit(98);
        ::execv(PITSAW_TOOL, arguments.data());
        _exit(99);
    }
    ::close(ends[1]);
    answer made;
    std::array<char, 512> some;
    for (ssize_t count = 0; (count = ::read(ends[0], some.data(), some.size())) > 0;)
        made.text.append(some.data(), static_cast<std::size_t>(count));
    ::close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    made.status = WIFEXITED(status) ? WEXITSTATUS(status) : 200 + WTERMSIG(status);
    return made;
}

inline auto says(answer const& of, std::string_view what) -> ::testing::AssertionResult {
    if (of.text.find(what) != std::string::npos) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "it does not say '" << what << "' but\n" << of.text;
}

} // namespace pitsaw::cli_tests
