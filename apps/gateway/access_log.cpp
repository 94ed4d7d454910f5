#include "gateway/access_log.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <system_error>

namespace gateway {
namespace {

/// Whether the file takes PIPE_BUF bytes more without holding up the thread, within a while.
bool takes_more(int file) {
    constexpr int while_ms = 100;
    pollfd asked{.fd = file, .events = POLLOUT, .revents = 0};
    return ::poll(&asked, 1, while_ms) != 0;
}

int open_to_append(std::string const& path) {
    return ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0640);
}

} // namespace

access_log::access_log(std::string const& path) {
    if (path.empty()) return;
    if (path != "-") path_ = path;
    file_ = path_.empty() ? STDOUT_FILENO : open_to_append(path_);
    if (file_ < 0) throw std::system_error(errno, std::system_category(), "access log " + path);
    writer_ = std::thread([this] { run(); });
}

access_log::~access_log() {
    if (!writer_.joinable()) return;
    {
        std::scoped_lock const lock(mutex_);
        is_ending_ = true;
    }
    changed_.notify_one();
    writer_.join();
    if (!path_.empty()) ::close(file_);
}

/// Where the name stands for another file now, or for none, that is the one to write to.
void access_log::follow_the_name() {
    struct stat ours{}, named{};
    if (path_.empty() || ::fstat(file_, &ours) != 0) return;
    bool const is_there = ::stat(path_.c_str(), &named) == 0;
    if (is_there && named.st_dev == ours.st_dev && named.st_ino == ours.st_ino) return;
    int const made = open_to_append(path_);
    if (made < 0) return; // the old one is better than none
    ::close(file_);
    file_ = made;
}

void access_log::write(std::string_view const line) {
    if (file_ < 0) return;
    std::scoped_lock const lock(mutex_);
    if (waiting_.size() + line.size() >= waiting_bytes_max) {
        ++dropped_;
        return;
    }
    if (waiting_.empty()) changed_.notify_one();
    waiting_.append(line).append("\n");
}

std::uint64_t access_log::dropped() {
    std::scoped_lock const lock(mutex_);
    return dropped_;
}

void access_log::run() {
    using clock = std::chrono::steady_clock;
    constexpr auto gathering = std::chrono::milliseconds(20); // many lines go with one write
    constexpr auto patience = std::chrono::seconds(1);
    constexpr auto looking = std::chrono::milliseconds(500); // after the name
    std::string writing;
    auto look_at = clock::now() + looking;
    bool is_cut = false; // the rest of the last line was lost
    std::unique_lock lock(mutex_);
    for (;;) {
        auto const has_work = [this] { return is_ending_ || !waiting_.empty(); };
        if (path_.empty())
            changed_.wait(lock, has_work);
        else
            changed_.wait_for(lock, looking, has_work);
        if (!is_ending_) changed_.wait_for(lock, gathering, [this] { return is_ending_; });
        writing.swap(waiting_);
        bool const is_last = is_ending_;
        lock.unlock();
        if (auto const now = clock::now(); now >= look_at) {
            follow_the_name();
            look_at = now + looking;
        }
        if (is_cut && takes_more(file_) && ::write(file_, "\n", 1) == 1) is_cut = false;
        std::string_view left = writing;
        auto until = clock::time_point::max();
        while (!left.empty()) {
            ssize_t const written =
                takes_more(file_) ? ::write(file_, left.data(), std::min<std::size_t>(left.size(), PIPE_BUF))
                                  : 0;
            if (written > 0) left.remove_prefix(static_cast<std::size_t>(written));
            if (written < 0 && errno != EINTR && errno != EAGAIN) break;
            lock.lock();
            if (is_ending_ && until == clock::time_point::max()) until = clock::now() + patience;
            lock.unlock();
            if (clock::now() > until) break;
        }
        if (auto const went = writing.size() - left.size(); went > 0) is_cut = writing[went - 1] != '\n';
        lock.lock();
        dropped_ += static_cast<std::uint64_t>(std::ranges::count(left, '\n'));
        writing.clear();
        if (is_last && waiting_.empty()) return;
    }
}

} // namespace gateway
