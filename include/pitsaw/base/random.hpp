#pragma once
#include <pitsaw/base/check.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

namespace pitsaw::inline v0 {

/// Seeded pseudo-random numbers, the only randomness of the library: the same seed gives the same numbers
/// with every compiler, standard library and machine, so that a seed can stand for a whole simulated run.
///
///     random_source random{42};
///     auto const die = random.between(1, 6);
///     if (random.chance(0.01)) drop(packet);
///     random.shuffle(std::span(workers));
///
/// It is a uniform random bit generator in the standard's sense, but the standard's distributions differ from
/// library to library: use the members. Not for secrets.
///
/// xoshiro256** 1.0 of Blackman and Vigna, seeded through splitmix64 as they advise
/// (https://prng.di.unimi.it); bounded numbers by Lemire's method ("Fast random integer generation in an
/// interval", ACM TOMACS 29(1), 2019).
///
/// Lifetime: a value; a copy repeats what the original will say. Threads: one at a time. Errors: none. 32
/// bytes.
class random_source {
  public:
    using result_type = std::uint64_t;

    constexpr explicit random_source(std::uint64_t seed) noexcept {
        for (auto& word : state_) word = splitmix64(seed);
    }

    /// The next 64 bits.
    constexpr auto operator()() noexcept -> std::uint64_t {
        std::uint64_t const result = std::rotl(state_[1] * 5, 7) * 9;
        std::uint64_t const shifted = state_[1] << 17;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= shifted;
        state_[3] = std::rotl(state_[3], 45);
        return result;
    }
    static constexpr auto min() noexcept -> std::uint64_t { return 0; }
    static constexpr auto max() noexcept -> std::uint64_t {
        return std::numeric_limits<std::uint64_t>::max();
    }

    /// A number in [0, bound), each equally likely. `bound` is positive.
    [[nodiscard]] constexpr auto below(std::uint64_t bound) noexcept -> std::uint64_t {
        debug_check(bound != 0, "no number is below 0: ask for a positive bound");
        auto product = wide{(*this)()} * bound;
        if (static_cast<std::uint64_t>(product) < bound) {
            // The few numbers that would make some results likelier than others.
            std::uint64_t const excess = (0 - bound) % bound;
            while (static_cast<std::uint64_t>(product) < excess) product = wide{(*this)()} * bound;
        }
        return static_cast<std::uint64_t>(product >> 64);
    }

    /// A number in [low, high], each equally likely; the whole range of 64 bits is allowed. `low` <= `high`.
    [[nodiscard]] constexpr auto between(std::int64_t low, std::int64_t high) noexcept -> std::int64_t {
        debug_check(low <= high, "no number lies between these: the lower one comes first");
        auto const first = static_cast<std::uint64_t>(low);
        std::uint64_t const count = static_cast<std::uint64_t>(high) - first + 1;
        return static_cast<std::int64_t>(first + (count == 0 ? (*this)() : below(count)));
    }

    /// True with the given probability: never for 0 and less (or NaN), always for 1 and more. It takes one
    /// number in each case, so that a changed probability does not shift what comes after.
    [[nodiscard]] constexpr auto chance(double probability) noexcept -> bool {
        // 53 bits: each is a double exactly, so no rounding mode can matter.
        return static_cast<double>((*this)() >> 11) * 0x1p-53 < probability;
    }

    /// Brings the elements into an order, each equally likely (Fisher and Yates).
    template <class T> constexpr void shuffle(std::span<T> elements) noexcept {
        for (std::size_t left = elements.size(); left > 1; --left) {
            using std::swap;
            std::size_t const chosen = below(left);
            if (chosen != left - 1) swap(elements[chosen], elements[left - 1]);
        }
    }

  private:
    __extension__ using wide = unsigned __int128;

    static constexpr auto splitmix64(std::uint64_t& state) noexcept -> std::uint64_t {
        std::uint64_t mixed = state += 0x9e3779b97f4a7c15;
        mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
        mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
        return mixed ^ mixed >> 31;
    }

    std::array<std::uint64_t, 4> state_{};
};
static_assert(sizeof(random_source) == 32);

} // namespace pitsaw::inline v0
