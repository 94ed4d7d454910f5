#pragma once
#include "driver/io_uring/driver.hpp"
#include "driver/law_subject.hpp"

#include <pitsaw/base/check.hpp>

#include <array>
#include <bit>
#include <chrono>
#include <dirent.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace pitsaw::laws {

class io_uring_subject final : public law_subject {
  public:
    explicit io_uring_subject(io_uring_options options) {
        check(driver_.open(options) >= 0, "no io_uring here");
    }

    auto io() -> driver& override { return driver_; }
    auto connected_pair() -> std::pair<descriptor, descriptor> override {
        auto const [at, address] = listen_raw(1);
        auto const client = ::socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(address.port);
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        check(::connect(client, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0, "connect");
        auto const server = ::accept(at, nullptr, nullptr);
        ::close(at);
        return {*driver_.attach(native_handle(client)), *driver_.attach(native_handle(server))};
    }
    auto socket() -> descriptor override { return *driver_.open_stream(address_family::ipv4); }
    auto listen(std::size_t backlog_max) -> listening override {
        auto const [at, address] = listen_raw(static_cast<int>(backlog_max));
        return {*driver_.attach(native_handle(at)), bytes_of(address)};
    }
    auto address_of_nobody() -> std::vector<std::byte> override { return bytes_of(loopback(1)); }
    void reset(descriptor stream) override {
        linger const none{1, 0};
        auto const fd = driver_.native(stream);
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
        sockaddr any{};
        any.sa_family = AF_UNSPEC; // connect(2): dissolves the association; TCP sends a reset
        ::connect(fd, &any, sizeof any);
    }
    auto open_objects() -> std::size_t override {
        std::size_t count = 0;
        auto* const folder = opendir("/proc/self/fd");
        while (readdir(folder) != nullptr) ++count;
        closedir(folder);
        return count;
    }
    void abandon() noexcept override {
        std::array<event, 16> out;
        auto const deadline = saturating_add(driver_.now(), std::chrono::seconds(10));
        while (driver_.drain(out, deadline).remaining != 0 && driver_.now() < deadline) {
        }
    }

  private:
    static auto loopback(std::uint16_t port) -> socket_address {
        return {.family = address_family::ipv4,
                .port = port,
                .bytes = {std::byte{127}, std::byte{0}, std::byte{0}, std::byte{1}}};
    }
    static auto bytes_of(socket_address const& address) -> std::vector<std::byte> {
        auto const bytes = std::bit_cast<std::array<std::byte, sizeof(socket_address)>>(address);
        return {bytes.begin(), bytes.end()};
    }
    static auto listen_raw(int backlog) -> std::pair<int, socket_address> {
        auto const at = ::socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in any{};
        any.sin_family = AF_INET;
        any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        check(::bind(at, reinterpret_cast<sockaddr*>(&any), sizeof any) == 0, "bind");
        check(::listen(at, backlog) == 0, "listen");
        socklen_t bytes = sizeof any;
        getsockname(at, reinterpret_cast<sockaddr*>(&any), &bytes);
        return {at, loopback(ntohs(any.sin_port))};
    }

    io_uring_driver driver_;
};

} // namespace pitsaw::laws
