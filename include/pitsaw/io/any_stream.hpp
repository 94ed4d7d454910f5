#pragma once
#include <pitsaw/base/check.hpp>
#include <pitsaw/io/readable.hpp>
#include <pitsaw/io/result.hpp>
#include <pitsaw/io/writable.hpp>
#include <pitsaw/io/write.hpp>
#include <pitsaw/task/child.hpp>
#include <pitsaw/task/promise_header.hpp>
#include <pitsaw/task/task.hpp>

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <system_error>
#include <type_traits>
#include <utility>

namespace pitsaw::inline v0 {

/// A leaf that has its result from the beginning, for what a stream does not do.
template <class T> class [[nodiscard]] known_result {
  public:
    explicit known_result(T value) noexcept : value_(std::move(value)) {}

    [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept {
        return header.env->stop.stop_requested() ? header.stop_here() : transfer(header);
    }
    [[nodiscard]] T await_resume() noexcept { return std::move(value_); }

  private:
    T value_;
};

/// A task as a leaf: it runs in the chain of whoever awaits this.
template <class T> class [[nodiscard]] task_in_place {
  public:
    explicit task_in_place(task<T>&& work) noexcept : work_(std::move(work)), frame_(work_.startable()) {}

    [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept {
        auto& promise = frame_.promise();
        promise.join_chain(header);
        return transfer(promise);
    }
    T await_resume() { return frame_.promise().result.take(); }

  private:
    task<T> work_;
    std::coroutine_handle<task_promise<T>> frame_;
};

/// An awaitable of any type whose result is a T, in place: what the members of `any_stream` return.
///
/// Lifetime: in the awaiting frame; started in the awaiting coroutine's own chain, so that what it stands for
/// is stopped as if it were awaited itself. Threads, errors, stopping: of that. Sizes: 144 bytes. An
/// operation or task lives inside; what is larger, or of another library, is awaited by a task, whose frame
/// comes from the recycler.
template <class T> class [[nodiscard]] any_operation {
  public:
    static constexpr std::size_t bytes_max = 128; // the operations of every stream of ours fit

    /// Constructs what `make()` returns in place.
    template <class Make> explicit any_operation(Make make) {
        using made = std::invoke_result_t<Make&>;
        if constexpr (startable<made> && sizeof(made) <= bytes_max &&
                      alignof(made) <= alignof(std::max_align_t))
            hold<made>(make);
        else if constexpr (is_task<made>)
            hold<task_in_place<typename made::value_type>>(make);
        else
            hold<task_in_place<T>>([&make] { return await_made(std::move(make)); });
    }
    any_operation(any_operation&&) = delete;
    ~any_operation() { methods_->destroy(storage_); }

    [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept {
        return methods_->start(storage_, header);
    }
    [[nodiscard]] T await_resume() { return methods_->resume(storage_); }

  private:
    struct methods {
        std::coroutine_handle<> (*start)(void* held, promise_header& header) noexcept;
        T (*resume)(void* held);
        void (*destroy)(void* held) noexcept;
    };

    template <class Held> [[nodiscard]] static Held& as(void* const held) noexcept {
        return *std::launder(static_cast<Held*>(held));
    }

    template <class Held>
    static constexpr methods methods_of = {
        [](void* const held, promise_header& header) noexcept { return as<Held>(held).start(header); },
        [](void* const held) -> T {
            if constexpr (std::is_void_v<decltype(as<Held>(held).await_resume())>) {
                as<Held>(held).await_resume();
                return T();
            } else {
                return as<Held>(held).await_resume();
            }
        },
        [](void* const held) noexcept { std::destroy_at(&as<Held>(held)); },
    };

    template <class Held, class Make> void hold(Make const& make) {
        ::new (static_cast<void*>(storage_)) Held(make());
        methods_ = &methods_of<Held>;
    }

    template <class Make> static task<T> await_made(Make make) {
        if constexpr (std::is_void_v<child_value<decltype(make())>>) {
            co_await make();
            co_return T();
        } else {
            co_return co_await make();
        }
    }

    alignas(std::max_align_t) std::byte storage_[bytes_max];
    methods const* methods_ = nullptr;
};

/// A stream whose type is forgotten: of several kinds behind one interface, TCP and TLS for one.
///
/// ```cpp
/// ps::any_stream link(co_await ps::or_return(ps::tcp_stream::connect(at)));
/// co_await ps::or_return(link.send_all(greeting));
/// auto got = co_await ps::or_return(link.receive(buffer));
/// ```
/// It is readable and writable itself. `shutdown_send`, `closed` and `async_close` do what the stream's own
/// do; where it has none, the first two give `operation_not_supported` and the last has nothing to do.
/// Lifetime: owns the stream, which stays where it is when this is moved, so it may be moved while something
/// is in flight, but not destroyed. Threads, errors, stopping: the stream's, a stop loses no byte that the
/// stream itself would not lose. Sizes: 16 bytes and one allocation, by the constructor; an operation
/// allocates nothing (see `any_operation`).
class any_stream {
  public:
    using bound_to_worker = void; ///< see `transferable`

    any_stream() = default; ///< none

    template <class Stream>
        requires(!std::same_as<Stream, any_stream> && readable<Stream> && writable<Stream> &&
                 std::move_constructible<Stream>)
    explicit any_stream(Stream stream) : any_stream(std::in_place_type<Stream>, std::move(stream)) {}

    /// Makes the stream where it stays, for one that cannot be moved.
    template <class Stream, class... Args>
        requires(readable<Stream> && writable<Stream>)
    explicit any_stream(std::in_place_type_t<Stream>, Args&&... args)
        : stream_(new Stream(std::forward<Args>(args)...)), methods_(&methods_of<Stream>) {}

    any_stream(any_stream&& other) noexcept
        : stream_(std::exchange(other.stream_, nullptr)), methods_(std::exchange(other.methods_, nullptr)) {}
    any_stream& operator=(any_stream&& other) noexcept {
        any_stream old(std::move(*this));
        stream_ = std::exchange(other.stream_, nullptr);
        methods_ = std::exchange(other.methods_, nullptr);
        return *this;
    }
    ~any_stream() {
        if (stream_ != nullptr) methods_->destroy(stream_);
    }

    using transfer_operation = any_operation<io_result<std::size_t>>;
    using plain_operation = any_operation<io_result<void>>;

    [[nodiscard]] transfer_operation receive(std::span<std::byte> into) {
        return used().receive(stream_, into);
    }
    [[nodiscard]] transfer_operation send(std::span<std::byte const> bytes) {
        return used().send(stream_, bytes);
    }
    /// Sends all of them (write.hpp).
    [[nodiscard]] task<io_result<void>> send_all(std::span<std::byte const> bytes) {
        return pitsaw::send_all(*this, bytes);
    }
    [[nodiscard]] task<io_result<void>> send_all(std::span<std::byte const> bytes, std::size_t& sent) {
        return pitsaw::send_all(*this, bytes, sent);
    }
    [[nodiscard]] plain_operation shutdown_send() { return used().shutdown_send(stream_); }
    /// Waits for the peer's end.
    [[nodiscard]] plain_operation closed() { return used().closed(stream_); }
    [[nodiscard]] plain_operation async_close() { return used().async_close(stream_); }

    [[nodiscard]] explicit operator bool() const noexcept { return stream_ != nullptr; }

  private:
    struct methods {
        transfer_operation (*receive)(void* stream, std::span<std::byte> into);
        transfer_operation (*send)(void* stream, std::span<std::byte const> bytes);
        plain_operation (*shutdown_send)(void* stream);
        plain_operation (*closed)(void* stream);
        plain_operation (*async_close)(void* stream);
        void (*destroy)(void* stream) noexcept;
    };

    [[nodiscard]] static io_result<void> not_supported() noexcept {
        return std::unexpected(std::make_error_code(std::errc::operation_not_supported));
    }

    template <class Stream> [[nodiscard]] static Stream& as(void* const stream) noexcept {
        return *static_cast<Stream*>(stream);
    }

    template <class Stream>
    static constexpr methods methods_of = {
        [](void* const stream, std::span<std::byte> const into) {
            return transfer_operation([stream, into] { return as<Stream>(stream).receive(into); });
        },
        [](void* const stream, std::span<std::byte const> const bytes) {
            return transfer_operation([stream, bytes] { return as<Stream>(stream).send(bytes); });
        },
        [](void* const stream) {
            if constexpr (requires { as<Stream>(stream).shutdown_send(); })
                return plain_operation([stream] { return as<Stream>(stream).shutdown_send(); });
            else
                return plain_operation([] { return known_result(not_supported()); });
        },
        [](void* const stream) {
            if constexpr (requires { as<Stream>(stream).closed(); })
                return plain_operation([stream] { return as<Stream>(stream).closed(); });
            else
                return plain_operation([] { return known_result(not_supported()); });
        },
        [](void* const stream) {
            if constexpr (requires { as<Stream>(stream).async_close(); })
                return plain_operation([stream] { return as<Stream>(stream).async_close(); });
            else
                return plain_operation([] { return known_result(io_result<void>()); });
        },
        [](void* const stream) noexcept { delete static_cast<Stream*>(stream); },
    };

    [[nodiscard]] methods const& used() const noexcept {
        check(methods_ != nullptr, "an any_stream without a stream was used: it is empty or was moved from");
        return *methods_;
    }

    void* stream_ = nullptr;
    methods const* methods_ = nullptr;
};
static_assert(readable<any_stream> && writable<any_stream> && sizeof(any_stream) == 16);

} // namespace pitsaw::inline v0
