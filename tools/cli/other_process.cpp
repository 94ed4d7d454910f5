#include "other_process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sys/uio.h>

namespace pitsaw::cli {
namespace {

constexpr std::size_t page = 4096; // a file's name may end just before one that is not there

} // namespace

auto other_process::why_unreadable(int const error) const -> std::string {
    auto const who = "process " + std::to_string(number_);
    if (error == ESRCH || error == ENOENT) return "there is no " + who;
    if (error == EPERM || error == EACCES)
        return who + " may not be looked into by this user: only its owner may, root, and, where "
                     "/proc/sys/kernel/yama/ptrace_scope is not 0, its parents";
    return who + ": " + std::strerror(error);
}

auto other_process::anonymous_memory() const -> std::expected<std::vector<memory_range>, std::string> {
    std::ifstream maps("/proc/" + std::to_string(number_) + "/maps");
    if (!maps) return std::unexpected(why_unreadable(errno));
    std::vector<memory_range> found;
    auto is_empty = true;
    auto readable = 0;
    for (std::string line; std::getline(maps, line); is_empty = false) {
        memory_range each;
        std::array<char, 5> rights{};
        std::uint64_t inode = 0;
        if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %4s %*s %*s %" SCNu64, &each.begin, &each.end,
                        rights.data(), &inode) != 4)
            continue;
        if (std::strcmp(rights.data(), "rw-p") != 0 || inode != 0) continue;
        found.push_back(each);
        std::byte one{};
        errno = 0;
        if (readable == 0 && !read(each.begin, std::span(&one, 1)) && errno != EFAULT)
            return std::unexpected(why_unreadable(errno)); // one answer tells of all
        ++readable;
    }
    if (is_empty) // a process that has ended and waits for its parent has no memory left
        return std::unexpected("process " + std::to_string(number_) + " has no memory: it has ended");
    return found;
}

auto other_process::read(std::uint64_t const from, std::span<std::byte> const to) const noexcept -> bool {
    for (std::size_t done = 0; done < to.size();) {
        iovec const here{to.data() + done, to.size() - done};
        iovec const there{reinterpret_cast<void*>(from + done), to.size() - done};
        auto const count = process_vm_readv(number_, &here, 1, &there, 1, 0);
        if (count <= 0) return false;
        done += static_cast<std::size_t>(count);
    }
    return true;
}

auto other_process::text_at(std::uint64_t const from) const -> std::string {
    std::array<char, 256> text{};
    auto const within_page = page - from % page;
    if (!read(from, std::as_writable_bytes(std::span(text)).first(std::min(text.size() - 1, within_page))))
        return {};
    return text.data();
}

auto other_process::place_at(std::uint64_t const location) const -> std::string {
    struct { // what both libstdc++ and libc++ let a std::source_location point to
        std::uint64_t file;
        std::uint64_t function;
        std::uint32_t line;
        std::uint32_t column;
    } data{};
    if (location == 0 || !read(location, std::as_writable_bytes(std::span(&data, 1))) || data.line == 0)
        return {};
    auto const file = text_at(data.file);
    return file.empty() ? file : file + ":" + std::to_string(data.line);
}

} // namespace pitsaw::cli
