#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace gateway {

/// A key. Nothing prints it: it has no conversion to text but the one that says so.
class secret {
  public:
    secret() = default;
    explicit secret(std::string value) noexcept : value_(std::move(value)) {}

    [[nodiscard]] bool empty() const noexcept { return value_.empty(); }
    /// For the one field of the one message that needs it.
    [[nodiscard]] std::string_view reveal() const noexcept { return value_; }

    /// In a time that says nothing about where they differ.
    [[nodiscard]] bool is(std::string_view const other) const noexcept {
        unsigned difference = value_.size() == other.size() ? 0 : 1;
        for (std::size_t i = 0; i < other.size(); ++i) {
            char const own = value_.empty() ? '\0' : value_[i % value_.size()];
            difference |= static_cast<unsigned char>(own ^ other[i]);
        }
        return difference == 0;
    }

    /// What is shorter could stand in a text by chance; no configuration may have such a key.
    static constexpr std::size_t bytes_min = 8;

  private:
    std::string value_;
};

} // namespace gateway
