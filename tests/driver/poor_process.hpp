#pragma once
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace pitsaw::laws {

/// Runs `body` in a process of its own, without root's exemption from limits; returns its exit status.
template <class Body> [[nodiscard]] auto status_of_a_poor_process(int limit, rlim_t most, Body body) -> int {
    auto const child = fork();
    if (child == 0) {
        rlimit const set{most, most};
        setrlimit(static_cast<__rlimit_resource>(limit), &set);
        // Locked memory is counted by user, and other tests run beside this one.
        auto const nobody = 60'000 + static_cast<unsigned>(getpid()) % 5'000;
        if (getuid() == 0 && (setgid(nobody) != 0 || setuid(nobody) != 0)) _exit(100);
        _exit(body());
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 200 + WTERMSIG(status);
}

} // namespace pitsaw::laws
