#pragma once
#include <pitsaw/io/buffer_pool.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

namespace pitsaw::inline v0::http {

/// What a connection has received and not used. A head that came in one piece stays in the driver's buffer;
/// one in several is put together in memory of its own. While nothing is there nothing is held.
class input_buffer {
  public:
    [[nodiscard]] std::string_view unread() const noexcept { return unread_; }
    void consume(std::size_t const bytes) noexcept { unread_.remove_prefix(bytes); }

    /// Before a request (RFC 9112 section 2.2).
    void skip_empty_lines() noexcept {
        while (unread_.starts_with("\r\n")) consume(2);
    }

    /// Whether it is more than the beginning of an empty line.
    [[nodiscard]] bool has_begun() const noexcept { return !unread_.empty() && unread_ != "\r"; }

    /// The beginning of a head, when nothing is unread.
    void take_head(lease got) noexcept {
        head_ = std::move(got);
        show(head_);
    }
    /// Of a body, when nothing is unread; the head before it stays.
    void take_body(lease got) noexcept {
        body_ = std::move(got);
        show(body_);
    }
    /// What is unread is the next head: the one before has been used.
    void next_head() noexcept {
        if (body_.empty()) return;
        auto const before = std::exchange(head_, std::move(body_));
        body_ = lease();
    }
    /// Room for more of a head that is there in part; `came` then says how many bytes it got.
    [[nodiscard]] std::span<std::byte> room();
    void came(std::size_t bytes) noexcept { unread_ = {unread_.data(), unread_.size() + bytes}; }

    /// Lets go of all memory, when nothing is unread.
    void release() noexcept {
        head_ = lease();
        body_ = lease();
        own_.reset();
        capacity_ = 0;
    }

  private:
    void show(lease const& of) noexcept {
        unread_ = {reinterpret_cast<char const*>(of.bytes().data()), of.size()};
    }

    std::string_view unread_;
    lease head_;
    lease body_;
    std::unique_ptr<char[]> own_;
    std::size_t capacity_ = 0; // of own_
};

} // namespace pitsaw::inline v0::http
