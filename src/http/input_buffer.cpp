#include "http/input_buffer.hpp"

#include <algorithm>
#include <cstring>

namespace pitsaw::inline v0::http {
namespace {

constexpr std::size_t capacity_min = 4096;

} // namespace

std::span<std::byte> input_buffer::room() {
    auto const* const begin = own_.get();
    bool const is_ours = begin != nullptr && unread_.data() >= begin && unread_.data() <= begin + capacity_;
    auto const used = unread_.size();
    if (!is_ours || unread_.data() + used == begin + capacity_) {
        if (is_ours && used < capacity_ / 2) {
            std::memmove(own_.get(), unread_.data(), used);
        } else {
            auto const capacity = std::max(capacity_min, 2 * used);
            std::unique_ptr<char[]> grown(new char[capacity]);
            std::memcpy(grown.get(), unread_.data(), used);
            own_ = std::move(grown);
            capacity_ = capacity;
            head_ = lease();
            body_ = lease();
        }
        unread_ = {own_.get(), used};
    }
    auto* const free = own_.get() + (unread_.data() - own_.get()) + used;
    return {reinterpret_cast<std::byte*>(free), static_cast<std::size_t>(own_.get() + capacity_ - free)};
}

} // namespace pitsaw::inline v0::http
