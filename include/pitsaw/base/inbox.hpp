#pragma once
#include <pitsaw/base/atomic.hpp>
#include <pitsaw/base/check.hpp>

#include <cstddef>
#include <cstdint>

namespace pitsaw::inline v0 {

/// What many threads put in and one takes out, in the order in which it was put in: how work reaches a worker
/// from elsewhere. Linked through a word that the elements already have, whose three low bits carry a tag
/// along (which of its messages an element means, say).
///
///     struct message { std::uintptr_t link = 0; int number; };
///     inbox<message, &message::link> incoming;
///     // any thread:
///     if (incoming.push(hello)) driver.wake();
///     // its owner, each turn:
///     incoming.take_all([](message& taken, unsigned tag) noexcept { handle(taken, tag); });
///
/// Lifetime: owns nothing. From push until it is handed out an element belongs to the inbox, its word too; it
/// may be destroyed or pushed again while it is handed out. Empty when it is destroyed (a debug check).
/// Immovable. Threads: `push` any, `take_all` one at a time. Both are lock-free: a push is repeated only when
/// another push or take went through meanwhile, a take is a single exchange and cannot be held up by a thread
/// that sleeps amid its push. Errors: none. 8 bytes.
///
/// The stack is Treiber's (IBM RJ 5118, 1986); as it is only ever emptied as a whole, an element that leaves
/// and returns between a push's look and its exchange does no harm (no ABA).
template <class T, detail::guarded<std::uintptr_t> T::* Link> class inbox {
  public:
    static constexpr std::uintptr_t tag_max = 7;

    constexpr inbox() noexcept = default;
    inbox(inbox&&) = delete;
    ~inbox() { debug_check(empty(), "an inbox is destroyed with elements in it: take them out first"); }

    /// Puts `added` in. True: the inbox was empty, so its owner may be asleep and the caller wakes it.
    /// Further pushes need not, for the owner first consumes the wake (with acquire or stronger, as reading
    /// an eventfd is) and then takes everything.
    [[nodiscard]] auto push(T& added, std::uintptr_t tag = 0) noexcept -> bool {
        static_assert(alignof(T) > tag_max, "the tag lives in the low bits of the address");
        debug_check(tag <= tag_max, "a tag has three bits");
        auto const address = reinterpret_cast<std::uintptr_t>(&added);
        // Relaxed: the value is only stored in a word and compared, never followed by this thread.
        std::uintptr_t newest = newest_.load(std::memory_order_relaxed);
        do {
            added.*Link = newest | tag;
            // Release, with the acquire in take_all: the element and its word. An element below the newest
            // one is seen too, for the exchange that put the next on top continues its release sequence.
        } while (!newest_.compare_exchange_weak(newest, address, std::memory_order_release,
                                                std::memory_order_relaxed));
        return newest == 0;
    }

    /// Hands out what is in it, oldest first, as `receive(element, tag)`. What is pushed meanwhile stays for
    /// the next time. Returns how many were handed out.
    template <class Receive> auto take_all(Receive receive) noexcept -> std::size_t {
        if (empty()) return 0;
        // Acquire, with the release in each push since the last take.
        std::uintptr_t taken = newest_.exchange(0, std::memory_order_acquire);
        // From "each knows the one before it" to "each knows the one after it".
        std::uintptr_t oldest = 0;
        while (taken != 0) {
            auto& link = element(taken).*Link;
            std::uintptr_t const before = link & ~tag_max;
            link = oldest | (link & tag_max);
            oldest = taken;
            taken = before;
        }
        std::size_t count = 0;
        for (; oldest != 0; ++count) {
            T& next = element(oldest);
            std::uintptr_t const link =
                next.*Link; // read before the receiver gets to do with it what it wants
            oldest = link & ~tag_max;
            receive(next, static_cast<unsigned>(link & tag_max));
        }
        return count;
    }

    /// A hint, as all such answers between threads are; only an owner who has consumed a wake cannot miss its
    /// push.
    // Relaxed: the exchange in take_all is what acquires, and the wake is what makes the push visible here.
    [[nodiscard]] auto empty() const noexcept -> bool { return newest_.load(std::memory_order_relaxed) == 0; }

  private:
    static auto element(std::uintptr_t address) noexcept -> T& { return *reinterpret_cast<T*>(address); }

    detail::atomic<std::uintptr_t> newest_ = 0; // any thread: the address of the latest element, 0 for none
};

} // namespace pitsaw::inline v0
