#pragma once
#include <utility>

namespace pitsaw::inline v0 {

/// A file descriptor that closes itself.
///
/// Lifetime: move-only; the number is the kernel's again when this goes. Threads: one at a time.
/// Errors: those of close(2) are dropped: Linux has freed the number also where it fails.
class owned_fd {
  public:
    owned_fd() noexcept = default;
    explicit owned_fd(int fd) noexcept : fd_(fd) {}
    owned_fd(owned_fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    owned_fd& operator=(owned_fd&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~owned_fd();

    [[nodiscard]] explicit operator bool() const noexcept { return fd_ >= 0; }
    [[nodiscard]] auto get() const noexcept -> int { return fd_; }
    [[nodiscard]] auto release() noexcept -> int { return std::exchange(fd_, -1); }

  private:
    int fd_ = -1;
};

} // namespace pitsaw::inline v0
