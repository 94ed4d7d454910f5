#pragma once
#include <algorithm>
#include <cstddef>
#include <string_view>

namespace pitsaw::fuzz {

/// The bytes of a message, and how they are cut: the first byte of an input says how long the pieces are.
class pieces {
  public:
    explicit pieces(std::string_view input) noexcept {
        if (input.empty()) return;
        length_ = static_cast<unsigned char>(input.front()) % longest + 1;
        left_ = whole_ = input.substr(1);
    }

    [[nodiscard]] std::string_view whole() const noexcept { return whole_; }
    /// Empty at the end.
    [[nodiscard]] std::string_view next() noexcept {
        auto const piece = left_.substr(0, length_);
        left_.remove_prefix(piece.size());
        return piece;
    }

  private:
    static constexpr std::size_t longest = 40;

    std::string_view whole_, left_;
    std::size_t length_ = 1;
};

} // namespace pitsaw::fuzz
