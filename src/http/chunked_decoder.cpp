#include "http/chunked_decoder.hpp"

#include "http/characters.hpp"

#include <algorithm>

namespace pitsaw::inline v0::http {
namespace {

constexpr std::uint8_t digits_max = 16;

} // namespace

chunked_decoder::step chunked_decoder::next(std::string_view& input, std::string_view& data) noexcept {
    for (;;) {
        if (at_ == state::done) return step::done;
        if (at_ == state::bad) return step::bad;
        if (input.empty()) return step::need_more;
        if (at_ == state::data) {
            data = input.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(left_, input.size())));
            input.remove_prefix(data.size());
            left_ -= data.size();
            if (left_ == 0) at_ = state::data_cr;
            return step::data;
        }
        take(input.front());
        input.remove_prefix(1);
    }
}

void chunked_decoder::take(char const c) noexcept {
    auto const wants = [this, c](char wanted, state then) { at_ = c == wanted ? then : state::bad; };
    auto const counts = [this](bool is_good) {
        if (!is_good || ++extras_ > extras_max) at_ = state::bad;
    };
    int const digit = digit_of(c);
    switch (at_) {
    case state::size:
        left_ = 0;
        digits_ = 0;
        at_ = state::digits;
        [[fallthrough]];
    case state::digits:
        if (digit >= 0) {
            left_ = left_ << 4 | static_cast<unsigned>(digit);
            if (++digits_ > digits_max) at_ = state::bad;
            return;
        }
        if (digits_ == 0 || left_ >> 63 != 0 || (c != '\r' && c != ';')) at_ = state::bad;
        if (at_ == state::digits) at_ = c == '\r' ? state::size_lf : state::extension;
        return;
    case state::extension:
        if (c == '\r')
            at_ = state::size_lf;
        else
            counts(is_kind(c, is_field));
        return;
    case state::size_lf:
        return wants('\n', left_ == 0 ? state::trailer : state::data);
    case state::data_cr:
        return wants('\r', state::data_lf);
    case state::data_lf:
        return wants('\n', state::size);
    case state::trailer:
        if (c == '\r') {
            at_ = state::end_lf;
            return;
        }
        at_ = state::trailer_name;
        return counts(is_kind(c, is_token));
    case state::trailer_name:
        if (c == ':') at_ = state::trailer_value;
        return counts(c == ':' || is_kind(c, is_token));
    case state::trailer_value:
        if (c == '\r')
            at_ = state::trailer_lf;
        else
            counts(is_kind(c, is_field));
        return;
    case state::trailer_lf:
        return wants('\n', state::trailer);
    case state::end_lf:
        return wants('\n', state::done);
    case state::data:
    case state::done:
    case state::bad:
        return; // next() does not ask
    }
}

} // namespace pitsaw::inline v0::http
