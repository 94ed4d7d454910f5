#pragma once
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace gateway {

/// Writes lines to a file on a thread of its own, so that a slow disk or a pipe that nobody reads holds up no
/// call: what does not fit in 1 MiB meanwhile is dropped and counted. A file that is renamed or removed, as
/// logrotate does, is made anew within a second.
///
/// Lifetime: its end waits for what was taken, for a second at most, unless it is a terminal that is held.
/// Threads: `write` from one, `dropped` from any. Errors: std::system_error if the file cannot be opened; a
/// write that fails drops its lines.
class access_log {
  public:
    /// `path`: a file, which grows; `-`: the standard output; empty: no log.
    explicit access_log(std::string const& path);
    access_log(access_log&&) = delete;
    ~access_log();

    /// A line without its end.
    void write(std::string_view line);
    [[nodiscard]] std::uint64_t dropped();

  private:
    static constexpr std::size_t waiting_bytes_max = 1 << 20;

    void run();
    void follow_the_name();

    std::string path_; // of a file that is ours; empty: it is not
    int file_ = -1;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::string waiting_;
    std::uint64_t dropped_ = 0;
    bool is_ending_ = false;
    std::thread writer_;
};

} // namespace gateway
