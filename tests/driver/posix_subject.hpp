#pragma once
#include "driver/law_subject.hpp"

#include <pitsaw/io/socket_address.hpp>

#include <map>

namespace pitsaw::laws {

/// How the sockets of a `posix_subject` are made.
struct posix_options {
    int buffer_bytes =
        0; // SO_SNDBUF and SO_RCVBUF, of which the kernel makes at least its minimum; 0: its default
};

/// A driver of an operating system under the laws: real sockets of the loopback interface.
class posix_subject final : public law_subject {
  public:
    posix_subject(std::unique_ptr<driver> judged, posix_options options);

    auto io() -> driver& override { return *judged_; }
    auto connected_pair() -> std::pair<descriptor, descriptor> override;
    auto socket() -> descriptor override;
    auto listen(std::size_t backlog_max) -> listening override;
    auto address_of_nobody() -> std::vector<std::byte> override;
    auto file() -> native_handle override;
    void reset(descriptor stream) override;
    auto open_objects() -> std::size_t override;
    void abandon() noexcept override;

  private:
    [[nodiscard]] auto make_fd() const -> int;
    [[nodiscard]] auto attach(int fd) -> descriptor;

    std::unique_ptr<driver> judged_;
    posix_options options_;
    std::map<std::uint32_t, int> fds_; // by a descriptor's index: those attached last
};

} // namespace pitsaw::laws
