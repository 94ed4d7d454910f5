#pragma once
#include <pitsaw/model/explore.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <source_location>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace pitsaw::testing {

/// A memory order that a file of the library writes, stronger than relaxed, at a line that some run has come
/// by.
struct written_order {
    std::string file;
    std::uint32_t line;
    std::memory_order order;
    friend auto operator<=>(written_order const&, written_order const&) = default;
};

[[nodiscard]] inline auto is_in(std::source_location where, std::string_view file) -> bool {
    return std::string_view(where.file_name()).ends_with(file);
}

/// Runs each of `bodies` as it is, which has to go well; then once for each order that `files` write, with
/// that one relaxed: the canaries of the protocol. Gives the orders whose weakening no body has noticed.
struct weakening {
    std::vector<written_order> unnoticed;
    std::size_t noticed = 0;
    std::string failure; ///< of the code as it is
};

[[nodiscard]] inline auto weaken_each(std::vector<std::function<void()>> const& bodies,
                                      std::vector<std::string> const& files, model::options how = {})
    -> weakening {
    weakening result;
    std::vector<written_order> written;
    how.weaken = [&](std::memory_order order, std::source_location where) {
        for (auto const& file : files) {
            written_order const here{file, where.line(), order};
            if (order != std::memory_order_relaxed && is_in(where, file) &&
                std::ranges::find(written, here) == written.end())
                written.push_back(here);
        }
        return order;
    };
    for (auto const& body : bodies) {
        auto const found = model::explore(how, body);
        if (found.has_failed()) result.failure += found.failure + '\n' + found.trace;
    }
    std::ranges::sort(written);
    for (auto const& each : written) {
        how.weaken = [&](std::memory_order order, std::source_location where) {
            bool const is_it = order == each.order && where.line() == each.line && is_in(where, each.file);
            return is_it ? std::memory_order_relaxed : order;
        };
        bool const is_noticed = std::ranges::any_of(
            bodies, [&](auto const& body) { return model::explore(how, body).has_failed(); });
        if (is_noticed)
            ++result.noticed;
        else
            result.unnoticed.push_back(each);
    }
    return result;
}

[[nodiscard]] inline auto text_of(weakening const& found) -> std::string {
    std::string text = std::to_string(found.noticed) + " noticed; not noticed:";
    for (auto const& each : found.unnoticed)
        text += ' ' + each.file + ':' + std::to_string(each.line) + '/' +
                std::to_string(static_cast<int>(each.order));
    return text;
}

} // namespace pitsaw::testing
