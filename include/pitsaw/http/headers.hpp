#pragma once
#include <pitsaw/io/result.hpp>
#include <pitsaw/task/frame_memory.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace pitsaw::inline v0::http {

/// Memory of the thread's frame recycler, for what lives as long as a request.
template <class T> struct recycled_allocator {
    using value_type = T;

    recycled_allocator() = default;
    template <class U> explicit(false) recycled_allocator(recycled_allocator<U>) noexcept {}

    [[nodiscard]] T* allocate(std::size_t const count) {
        return static_cast<T*>(allocate_frame(count * sizeof(T)));
    }
    void deallocate(T* const at, std::size_t const count) noexcept { free_frame(at, count * sizeof(T)); }
    friend bool operator==(recycled_allocator, recycled_allocator) noexcept { return true; }
};

/// A string of such memory.
using recycled_string = std::basic_string<char, std::char_traits<char>, recycled_allocator<char>>;

/// One field of a message's head.
struct header {
    std::string_view name;
    std::string_view value;
};

/// Whether two names are the same; the case of ASCII letters says nothing.
[[nodiscard]] bool is_same_name(std::string_view a, std::string_view b) noexcept;

/// Whether a list of tokens between commas, as in `Connection`, has this one.
[[nodiscard]] bool has_token(std::string_view list, std::string_view token) noexcept;

/// Whether a field says how its message is framed or which way it goes, so that it is never passed on:
/// Connection, Keep-Alive, Proxy-*, TE, Trailer, Transfer-Encoding, Upgrade, Content-Length (RFC 9110 section
/// 7.6.1).
[[nodiscard]] bool is_hop_by_hop(std::string_view name) noexcept;

/// The fields of a received message, in the order in which they came.
///
/// ```cpp
/// if (auto const type = request.headers().find("content-type")) use(*type);
/// for (auto const& [name, value] : request.headers()) log(name, value);
/// ```
/// Lifetime: refers to the message. Threads: its worker. Errors, stopping: none. Sizes: 16 bytes. Source: RFC
/// 9110 section 5: names in any case, values without the white space around them.
class header_view {
  public:
    header_view() = default;
    explicit header_view(std::span<header const> all) noexcept : all_(all) {}

    /// The first of that name.
    [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const noexcept;

    [[nodiscard]] auto begin() const noexcept { return all_.begin(); }
    [[nodiscard]] auto end() const noexcept { return all_.end(); }
    [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }

  private:
    std::span<header const> all_;
};

/// The fields of a message that is to be sent, kept as the bytes that go out.
///
/// ```cpp
/// ps::http::response reply(303);
/// reply.headers().add("Location", "/there");
/// ```
/// How a message is framed is not among them: Content-Length, Transfer-Encoding and the like, and Host, are
/// the library's, and adding one is an error; `Connection: close` alone is heard. Lifetime: a value.
/// Threads: one at a time. Errors: `add` throws std::invalid_argument for a name that is no token, a value
/// with CR, LF, NUL or another control character (which would be a field of its own, or a response), and a
/// field that is the library's; `try_add` gives `invalid_argument`. Stopping: none. Sizes: 40 bytes, and the
/// text in recycled memory. Source: RFC 9110 sections 5.1 and 5.5.
class headers {
  public:
    headers() = default;

    headers& add(std::string_view name, std::string_view value);
    [[nodiscard]] io_result<void> try_add(std::string_view name, std::string_view value);
    /// All of a received message but what is hop-by-hop, what its `Connection` names (RFC 9110 section
    /// 7.6.1), and `Date`, `Expect` and `Host`, which whoever passes it on says or answers itself.
    headers& add_end_to_end(header_view received);

    /// The first of that name.
    [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const noexcept;

    /// Whether `Connection: close` was added.
    [[nodiscard]] bool asks_to_close() const noexcept { return asks_to_close_; }
    /// As it is sent: each with its CRLF.
    [[nodiscard]] std::string_view text() const noexcept { return text_; }

  private:
    recycled_string text_;
    bool asks_to_close_ = false;
};

} // namespace pitsaw::inline v0::http
