#pragma once
#include "driver/io_uring/kernel.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace pitsaw::faults {

/// As long as one lives, it is what answers the calls of io_uring: a kernel in a few lines, whose queues
/// begin wherever a test wants them to, and which says what a test tells it to say.
///
/// It ends nops at once and keeps everything else. It has no powers beyond the least.
class fake_kernel {
  public:
    /// `first`: the number of the first entry and of the first completion of each ring.
    explicit fake_kernel(std::uint32_t first = 0);
    fake_kernel(fake_kernel&&) = delete;
    ~fake_kernel();

    [[nodiscard]] static auto current() noexcept -> fake_kernel*;

    [[nodiscard]] auto answer(long number, long const (&given)[6]) -> std::optional<long>;
    [[nodiscard]] auto map(int fd, std::int64_t offset) -> void*; // null: not of a ring of this one

    /// A completion of the ring that was opened first, a driver's own.
    void complete(std::uint64_t user_data, std::int32_t result, std::uint32_t flags = 0);

    std::vector<io_uring_sqe> kept; // submitted, and neither ended nor forgotten

  private:
    static constexpr std::uint32_t submissions = 8;
    static constexpr std::uint32_t completions = 16;
    struct ring {
        int fd;
        std::byte* memory; // these are pages of their own, which whoever mapped them unmaps
        io_uring_sqe* entries;

        [[nodiscard]] auto number(std::uint32_t offset) -> std::uint32_t& {
            return *reinterpret_cast<std::uint32_t*>(memory + offset);
        }
    };
    [[nodiscard]] auto find(int fd) noexcept -> ring*;
    [[nodiscard]] auto set_up(io_uring_params& parameters) -> long;
    [[nodiscard]] auto enter(ring& on, std::uint32_t count) -> long;
    static void complete(ring& on, std::uint64_t user_data, std::int32_t result, std::uint32_t flags);

    std::uint32_t first_;
    std::vector<ring*> rings_;
};

} // namespace pitsaw::faults
