#pragma once
#include "gateway/json_scalars.hpp"

#include <pitsaw/http/event_stream.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gateway {

/// The tokens that an answer says it took.
struct token_usage {
    std::uint64_t prompt = 0;
    std::uint64_t completion = 0;
    bool is_known = false;
};

/// Finds the tokens in an answer that goes by: in `usage` of a JSON document, of the last event of a stream,
/// or of each event, where it grows; also in `x_groq.usage`. The last one that is found is the answer's, so
/// that nothing is counted twice. An event above 64 KiB is
/// not looked at.
class usage_scan {
  public:
    enum class of : std::uint8_t { document, events };

    explicit usage_scan(of what);
    usage_scan(usage_scan&&) = delete;

    void feed(std::string_view piece);
    /// So far.
    [[nodiscard]] token_usage const& found() const noexcept { return found_; }
    /// Whether it is a stream of which no event has come; comments are none, one that is too long is one.
    [[nodiscard]] bool awaits_first_event() const noexcept { return what_ == of::events && !has_event_; }
    /// At the end of the answer, which may lack its last empty line.
    token_usage const& finish();

  private:
    void look_at(pitsaw::http::server_event const& event);
    [[nodiscard]] bool skip_event(std::string_view& piece);

    static constexpr std::size_t event_bytes_max = 64 << 10;

    of what_;
    bool has_event_ = false;
    bool is_skipping_ = false; // an event that is too long
    bool is_at_line_begin_ = false;
    char last_ = 0;
    token_usage found_;
    json_scalars document_;
    pitsaw::http::event_parser events_{event_bytes_max};
};

} // namespace gateway
