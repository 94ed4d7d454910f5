#pragma once
#include <pitsaw/io/buffer.hpp>
#include <pitsaw/io/driver.hpp>

#include <cerrno>
#include <cstdint>
#include <optional>
#include <string_view>
#include <sys/socket.h>
#include <vector>

/// What an `attempting_driver` tries by a call of its own before it submits.
struct attempt_policy {
    bool sends = false;
    bool receives = false;     ///< each
    bool after_a_full = false; ///< receives on a connection whose last receive filled its buffer
};

/// The policy that the command line names.
inline auto policy_named(std::string_view const name) noexcept -> std::optional<attempt_policy> {
    if (name == "nothing") return attempt_policy{};
    if (name == "sends") return attempt_policy{.sends = true};
    if (name == "everything") return attempt_policy{.sends = true, .receives = true};
    if (name == "full") return attempt_policy{.after_a_full = true};
    return std::nullopt;
}

/// Another driver, which attempts what it would not: io_uring with a policy, beside io_uring without one.
///
/// Half of each pool that it is lent goes to the inner driver, half is for attempts; so it is with every
/// policy. A program on it has at most one receive and one send of a descriptor at work: an attempt does not
/// look whether it overtakes one (law 13).
class attempting_driver final : public pitsaw::driver {
  public:
    attempting_driver(pitsaw::driver& inner, attempt_policy policy) : inner_(inner), policy_(policy) {}

    auto now() const noexcept -> pitsaw::time_point override { return inner_.now(); }
    auto attach(pitsaw::native_handle handle) noexcept -> pitsaw::io_result<pitsaw::descriptor> override {
        auto const made = inner_.attach(handle);
        if (made) {
            if (made->index >= connections_.size()) connections_.resize(made->index + 1);
            connections_[made->index] = {.fd = static_cast<int>(handle), .last_was_full = false};
        }
        return made;
    }
    auto open_stream(pitsaw::address_family family) noexcept
        -> pitsaw::io_result<pitsaw::descriptor> override {
        return inner_.open_stream(family);
    }
    auto control(pitsaw::descriptor target, pitsaw::socket_command& command) noexcept
        -> pitsaw::io_result<void> override {
        return inner_.control(target, command);
    }
    auto lend(std::span<std::byte> memory, std::uint32_t buffer_bytes) noexcept
        -> pitsaw::io_result<std::uint16_t> override {
        inner_buffers_ = static_cast<std::uint16_t>(memory.size() / buffer_bytes / 2);
        buffer_bytes_ = buffer_bytes;
        memory_ = memory;
        for (auto buffer = inner_buffers_; buffer < memory.size() / buffer_bytes; ++buffer)
            free_.push_back(buffer);
        return inner_.lend(memory.first(std::size_t{inner_buffers_} * buffer_bytes), buffer_bytes);
    }
    void give_back(std::uint16_t pool, std::uint16_t buffer) noexcept override {
        if (buffer < inner_buffers_) return inner_.give_back(pool, buffer);
        free_.push_back(buffer);
    }
    auto attempt(pitsaw::operation& op, pitsaw::event& finished) noexcept -> bool override {
        using enum pitsaw::op_code;
        if (op.code == send && policy_.sends) return attempt_send(op, finished);
        if (op.code != receive) return false;
        auto const& on = connections_[op.target.index];
        if (policy_.receives || (policy_.after_a_full && on.last_was_full))
            return attempt_receive(op, finished);
        return false;
    }
    void submit(pitsaw::operation& op) noexcept override { inner_.submit(op); }
    void cancel(pitsaw::operation& op) noexcept override { inner_.cancel(op); }
    auto poll(std::span<pitsaw::event> out, pitsaw::time_point until) noexcept -> std::size_t override {
        auto const count = inner_.poll(out, until);
        if (policy_.after_a_full)
            for (auto const& each : out.first(count))
                if (each.op->code == pitsaw::op_code::receive) note_received(*each.op, each.result);
        return count;
    }
    void wake() noexcept override { inner_.wake(); }
    auto detach(pitsaw::descriptor target) noexcept -> pitsaw::io_result<pitsaw::native_handle> override {
        return inner_.detach(target);
    }
    void discard(pitsaw::descriptor target) noexcept override { inner_.discard(target); }
    auto drain(std::span<pitsaw::event> out, pitsaw::time_point deadline) noexcept
        -> pitsaw::drain_progress override {
        return inner_.drain(out, deadline);
    }
    auto features() const noexcept -> pitsaw::driver_features override { return inner_.features(); }

  private:
    struct connection {
        int fd = -1;
        bool last_was_full = false;
    };

    /// Whether the system's answer is one; if not, the inner driver is to wait for it.
    static auto is_answer(ssize_t const moved, pitsaw::operation& op, pitsaw::event& finished) noexcept
        -> bool {
        if (moved < 0 && (errno == EAGAIN || errno == EINTR)) return false;
        finished = {.op = &op, .result = static_cast<std::int32_t>(moved < 0 ? -errno : moved)};
        return true;
    }

    auto attempt_send(pitsaw::operation& op, pitsaw::event& finished) noexcept -> bool {
        if (has(op.options, pitsaw::op_option::vectored)) return false;
        auto const fd = connections_[op.target.index].fd;
        return is_answer(::send(fd, op.address, op.length, MSG_NOSIGNAL | MSG_DONTWAIT), op, finished);
    }

    auto attempt_receive(pitsaw::operation& op, pitsaw::event& finished) noexcept -> bool {
        auto const is_pooled = has(op.options, pitsaw::op_option::pooled);
        if (is_pooled && free_.empty()) return false;
        auto const into = is_pooled
                              ? memory_.subspan(std::size_t{free_.back()} * buffer_bytes_, buffer_bytes_)
                              : buffer_of(op);
        auto const fd = connections_[op.target.index].fd;
        auto const is_done = is_answer(::recv(fd, into.data(), into.size(), MSG_DONTWAIT), op, finished);
        note_received(op, is_done ? finished.result : 0);
        if (is_done && is_pooled && finished.result > 0) {
            finished.flags = pitsaw::event_flag::pooled;
            finished.buffer = free_.back();
            free_.pop_back();
        }
        return is_done;
    }

    void note_received(pitsaw::operation const& op, std::int32_t const result) noexcept {
        auto const room = has(op.options, pitsaw::op_option::pooled) ? buffer_bytes_ : op.length;
        connections_[op.target.index].last_was_full =
            result > 0 && static_cast<std::uint32_t>(result) == room;
    }

    pitsaw::driver& inner_;
    attempt_policy policy_;
    std::vector<connection> connections_; // by a descriptor's index
    std::span<std::byte> memory_;
    std::uint32_t buffer_bytes_ = 0;
    std::uint16_t inner_buffers_ = 0;
    std::vector<std::uint16_t> free_; // of the other half
};
