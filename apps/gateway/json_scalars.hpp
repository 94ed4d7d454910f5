#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

namespace gateway {

/// One value of a document; of an object or an array (`other`) only that it is there.
struct json_scalar {
    enum class kind : std::uint8_t { text, number, boolean, null, other };

    kind what = kind::null;
    std::string_view text; ///< of a text: its first 256 bytes
    bool is_cut = false;   ///< and whether it is longer
    std::uint64_t number = 0;
    bool boolean = false;
};

/// Reads a JSON document that comes in pieces, and tells of the scalars that stand in objects near its root,
/// by their path: `model`, `stream_options.include_usage`. It keeps nothing of the rest, however long a text
/// in it is.
///
/// Lifetime: the callback is called within `feed` and `finish`. Errors: `feed` and `finish` say whether it is
/// JSON so far, an object at the root, nested at most 256 deep. Sizes: 2 KiB.
class json_scalars {
  public:
    using on_scalar = std::function<void(std::string_view path, json_scalar const& value)>;

    explicit json_scalars(on_scalar told);
    json_scalars(json_scalars&&) noexcept;
    json_scalars& operator=(json_scalars&&) noexcept;
    ~json_scalars();

    bool feed(std::string_view piece);
    [[nodiscard]] bool finish();

  private:
    struct parts;
    std::unique_ptr<parts> parts_;
};

} // namespace gateway
