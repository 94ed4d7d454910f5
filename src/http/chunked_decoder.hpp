#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pitsaw::inline v0::http {

/// Takes a chunked body apart, however it was cut. RFC 9112 section 7.1.
class chunked_decoder {
  public:
    enum class step : std::uint8_t {
        need_more, // all of the input was taken
        data,      // bytes of the body
        done,      // the last chunk and the trailers have been taken
        bad,       // no chunked body, or more than the limit beside its data
    };

    /// Takes from the front of `input`; `data` is a part of it.
    [[nodiscard]] step next(std::string_view& input, std::string_view& data) noexcept;

    /// Bytes of extensions and trailers that a message may have.
    static constexpr std::size_t extras_max = 16384;

    /// What is left of the chunk; 0 while its size is not known.
    [[nodiscard]] std::uint64_t left() const noexcept { return at_ == state::data ? left_ : 0; }

  private:
    enum class state : std::uint8_t {
        size, // before the first digit
        digits,
        extension,
        size_lf,
        data,
        data_cr,
        data_lf,
        trailer, // at the beginning of a line
        trailer_name,
        trailer_value,
        trailer_lf,
        end_lf,
        done,
        bad,
    };

    void take(char c) noexcept;

    state at_ = state::size;
    std::uint8_t digits_ = 0;
    std::uint32_t extras_ = 0; // bytes
    std::uint64_t left_ = 0;   // bytes of the chunk
};

} // namespace pitsaw::inline v0::http
