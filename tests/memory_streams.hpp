#pragma once
#include <pitsaw/io/result.hpp>
#include <pitsaw/task/task.hpp>
#include <pitsaw/time/sleep.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <system_error>

namespace pitsaw::testing {

/// A source whose receive is a task: some of `text` at a time, each after a while, then `error` if there is
/// one, else the end.
struct text_source {
    std::string text;
    std::size_t piece_max = 3; // bytes
    std::error_code error{};
    std::size_t given = 0;

    task<io_result<std::size_t>> receive(std::span<std::byte> into) {
        co_await sleep(std::chrono::milliseconds(1));
        if (given == text.size() && error) co_return std::unexpected(error);
        auto const count = std::min({piece_max, text.size() - given, into.size()});
        std::memcpy(into.data(), text.data() + given, count);
        given += count;
        co_return io_result<std::size_t>(count);
    }
};

/// A sink that takes up to `piece_max` bytes at a time, each after a while, and at `room` bytes fails with
/// `error`, or takes nothing where there is none.
struct text_sink {
    std::string text{};
    std::size_t piece_max = 2; // bytes
    std::size_t room = SIZE_MAX;
    std::error_code error{};

    task<io_result<std::size_t>> send(std::span<std::byte const> from) {
        co_await sleep(std::chrono::milliseconds(1));
        if (text.size() == room && error) co_return std::unexpected(error);
        auto const count = std::min({piece_max, from.size(), room - text.size()});
        text.append(reinterpret_cast<char const*>(from.data()), count);
        co_return io_result<std::size_t>(count);
    }
};

} // namespace pitsaw::testing
