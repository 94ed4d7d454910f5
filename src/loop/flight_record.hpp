#pragma once
#include "driver/recording/input_entry.hpp"

#include <pitsaw/base/atomic.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace pitsaw::inline v0 {

enum class flight_kind : std::uint8_t {
    event,  // of the driver; an attempt that succeeded at once is one too
    ending, // of a chain of awaits at its boundary; result: the `ending`
    stop,   // of the runtime was asked for; result: the `stop_reason`
    timers, // result: how many fired in this turn
};

/// One thing that happened on a worker, as its ring keeps it and as another process reads it.
struct flight_record {
    static constexpr std::uint8_t at_once = 0x80; // beside the bits of event_flag: no poll brought it

    std::int64_t time = 0; // the driver's, in nanoseconds, of the turn's poll
    flight_kind kind = flight_kind::event;
    std::uint8_t code = 0; // event: op_code
    std::uint8_t flags = 0;
    std::uint8_t options = 0; // event: op_option
    std::int32_t result = 0;
    std::uint32_t index = 0;      // event: the descriptor's
    std::uint32_t generation = 0; // event: the descriptor's
    std::uint64_t subject = 0;    // event: the operation's address; ending: a `std::source_location`'s data

    friend bool operator==(flight_record const&, flight_record const&) = default;
};
static_assert(sizeof(flight_record) == 32);

/// The slots of a ring, and how one thread writes while others, or another process, read.
///
/// | step of the writer           | order   | partner                                                    |
/// |------------------------------|---------|------------------------------------------------------------|
/// | words of the slot `n % size` | release | the reader's loads of words: whoever sees one also sees    |
/// |                              |         | `head` at `n` or later, and then does not trust the slot   |
/// | `head` becomes `n + 1`       | release | the reader's first load of `head`                          |
///
/// A reader loads `head`, copies, loads `head` again as `now`, and keeps what is older than the first and
/// younger than `now - size`: the slot of that number may be half written. tests/model/flight_ring_test.cpp
/// explores it.
/// Lifetime: none of its own: a view on memory. Threads: `push` its worker's; `read` any.
class flight_ring {
  public:
    using word = detail::atomic<std::uint64_t>;
    static constexpr std::size_t words_of_a_slot = sizeof(flight_record) / sizeof(std::uint64_t);

    /// `size`, a power of two, is the number of slots.
    flight_ring(word& head, word* words, std::uint32_t size) noexcept
        : head_(&head), words_(words), size_(size) {}

    void push(flight_record const& last) noexcept {
        auto const number = head_->load(std::memory_order_relaxed); // our own
        auto const from = std::bit_cast<std::array<std::uint64_t, words_of_a_slot>>(last);
        auto* const to = words_ + (number & (size_ - 1)) * words_of_a_slot;
        for (std::size_t i = 0; i < words_of_a_slot; ++i)
            to[i].store(from[i], std::memory_order_release); // with read()
        head_->store(number + 1, std::memory_order_release); // with read()
    }

    [[nodiscard]] auto size() const noexcept -> std::uint32_t { return size_; }
    [[nodiscard]] auto pushed() const noexcept -> std::uint64_t {
        return head_->load(std::memory_order_acquire); // with push()
    }

    /// The record of number `number`; false where it was overwritten, or is not there yet.
    [[nodiscard]] auto read(std::uint64_t number, flight_record& to) const noexcept -> bool {
        if (number >= pushed()) return false;
        std::array<std::uint64_t, words_of_a_slot> copy;
        auto const* const from = words_ + (number & (size_ - 1)) * words_of_a_slot;
        for (std::size_t i = 0; i < words_of_a_slot; ++i)
            copy[i] = from[i].load(std::memory_order_acquire);                      // with push()
        if (head_->load(std::memory_order_relaxed) >= number + size_) return false; // after the loads above
        to = std::bit_cast<flight_record>(copy);
        return true;
    }

  private:
    word* head_;
    word* words_;
    std::uint32_t size_;
};

/// The beginning of the memory of a recorder, by which other processes know it; a file of it begins so too.
///
/// What follows it: the slots of the ring from `records_at`, the entries of inputs from `inputs_at`.
struct flight_header {
    static constexpr std::size_t bytes = 4096;  // a page, with the first slots; the inputs begin with another
    static constexpr std::size_t ring_at = 512; // in the same page: a short life touches no other
    static constexpr std::uint32_t version_now = 1;
    static constexpr std::uint32_t records_max = 1U << 24;
    static constexpr std::uint64_t bytes_max = std::uint64_t{1} << 30; // in all; who reads allocates as much
    static constexpr std::array<char, 16> magic_now = {'p', 'i', 't', 's', 'a', 'w', ' ', 'r',
                                                       'e', 'c', 'o', 'r', 'd', 'e', 'r', '\n'};

    // Set once.
    std::array<char, 16> magic = magic_now;
    std::uint32_t version = version_now;
    std::uint32_t records = 0; // slots
    std::uint64_t records_at = ring_at;
    std::uint64_t inputs_at = 0;
    std::uint64_t inputs_max = 0;       // bytes of inputs that can be held; 0: none are
    std::array<char, 16> driver = {};   // its name
    detail::atomic<std::uint64_t> head; // worker writes, others read: flight_ring
    input_room inputs;                  // the same
};
static_assert(sizeof(flight_header) <= flight_header::ring_at);

} // namespace pitsaw::inline v0
