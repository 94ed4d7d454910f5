#include "gateway/spooled_body.hpp"

#include <pitsaw/task/blocking.hpp>
#include <pitsaw/task/or_return.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

namespace gateway {
namespace {

std::unexpected<std::error_code> last_error() {
    return std::unexpected(std::error_code(errno, std::system_category()));
}

/// What is in memory, then what is in the file.
class spooled_source final : public pitsaw::http::body_source {
  public:
    spooled_source(std::string_view memory, int file) noexcept : memory_(memory), file_(file) {}

    pitsaw::task<pitsaw::io_result<std::span<std::byte const>>> read() override {
        using result = pitsaw::io_result<std::span<std::byte const>>;
        if (!memory_.empty()) co_return result(std::as_bytes(std::span(std::exchange(memory_, {}))));
        constexpr std::size_t piece_bytes = 64 << 10;
        piece_.resize(piece_bytes);
        auto const got = co_await pitsaw::or_return(pitsaw::blocking([this] { return read_next(); }));
        co_return result(std::span<std::byte const>(piece_).first(got));
    }

  private:
    pitsaw::io_result<std::size_t> read_next() {
        for (;;) {
            auto const got = ::pread(file_, piece_.data(), piece_.size(), offset_);
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) return last_error();
            offset_ += got;
            return static_cast<std::size_t>(got);
        }
    }

    std::string_view memory_;
    std::vector<std::byte> piece_;
    off_t offset_ = 0;
    int file_;
};

} // namespace

bool spool::reserve(std::uint64_t const bytes) noexcept {
    auto there = bytes_.load(std::memory_order_relaxed);
    do {
        if (bytes > bytes_max_ - there) return false;
    } while (!bytes_.compare_exchange_weak(there, there + bytes, std::memory_order_relaxed));
    return true;
}

spooled_body::~spooled_body() {
    if (file_ >= 0) ::close(file_);
    spool_.release(in_file_);
}

pitsaw::task<pitsaw::io_result<void>> spooled_body::append(std::span<std::byte const> const piece) {
    auto const room = file_ >= 0 ? 0 : memory_max_ - memory_.size();
    if (piece.size() <= room) {
        memory_.append(reinterpret_cast<char const*>(piece.data()), piece.size());
    } else {
        if (!spool_.reserve(piece.size()))
            co_return std::unexpected(std::make_error_code(std::errc::no_space_on_device));
        in_file_ += piece.size(); // from now on: others append meanwhile
        co_await pitsaw::or_return(pitsaw::blocking([this, piece] { return write(piece); }));
    }
    size_ += piece.size();
    co_return {};
}

pitsaw::io_result<void> spooled_body::open() {
    file_ = ::open(spool_.folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file_ < 0) return last_error();
    return {};
}

pitsaw::io_result<void> spooled_body::write(std::span<std::byte const> piece) {
    if (file_ < 0)
        if (auto const opened = open(); !opened) return opened;
    while (!piece.empty()) {
        auto const written = ::write(file_, piece.data(), piece.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return last_error();
        piece = piece.subspan(static_cast<std::size_t>(written));
    }
    return {};
}

pitsaw::http::body spooled_body::as_body() const {
    if (file_ < 0) return pitsaw::http::body::borrowed(memory_);
    return pitsaw::http::body(std::make_unique<spooled_source>(memory_, file_), size_);
}

} // namespace gateway
