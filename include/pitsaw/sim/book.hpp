#pragma once
#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

namespace pitsaw::inline v0::sim {

/// A count that must be back at nothing when a run ends: permits, connections of a pool, values of one's own.
///
/// ```cpp
/// ps::sim::book permits("permits");
/// auto const body = [&]() -> ps::task<> {
///     ps::sim::counted<int> const permit(permits, 7); // until its end, whichever way that comes
///     co_await ps::sleep(1ms);
/// };
/// ps::sim::check_stop_options options;
/// options.books = {&permits};
/// EXPECT_TRUE(ps::sim::check_stop(body, options));
/// ```
/// Lifetime: outlives what it counts. Threads: one at a time. Errors, stopping: none.
class book {
  public:
    explicit book(std::string counts) : counts_(std::move(counts)) {}
    book(book&&) = delete;

    void take(std::int64_t count = 1) noexcept { open_ += count; }
    void give_back(std::int64_t count = 1) noexcept { open_ -= count; }

    /// What is taken and not given back; negative if more was given back than was taken.
    [[nodiscard]] std::int64_t open() const noexcept { return open_; }

    /// Begins anew, as a harness does before each run.
    void clear() noexcept { open_ = 0; }

    /// What is wrong, in words; empty if nothing is.
    [[nodiscard]] std::string imbalance() const {
        if (open_ == 0) return {};
        return open_ > 0 ? std::to_string(open_) + " " + counts_ + " not given back"
                         : std::to_string(-open_) + " " + counts_ + " given back twice";
    }

  private:
    std::string counts_;
    std::int64_t open_ = 0;
};

/// A value whose constructors and destructors a book counts: one that is lost, or destroyed twice, shows.
///
/// ```cpp
/// ps::sim::counted<std::string> name(values, "ada");
/// use(*name);
/// ```
/// Lifetime: within the book's. Threads: the book's. Errors: those of T. Sizes: a pointer and a T.
template <class T> class counted {
  public:
    template <class... Args>
        requires std::constructible_from<T, Args...>
    explicit counted(book& in, Args&&... args) : value_(std::forward<Args>(args)...), in_(&in) {
        in_->take();
    }
    counted(counted const& other) : value_(other.value_), in_(other.in_) { in_->take(); }
    counted(counted&& other) noexcept(std::is_nothrow_move_constructible_v<T>)
        : value_(std::move(other.value_)), in_(other.in_) {
        in_->take();
    }
    /// The value alone: each stays in the book that counted its construction.
    counted& operator=(counted const& other) {
        value_ = other.value_;
        return *this;
    }
    counted& operator=(counted&& other) noexcept(std::is_nothrow_move_assignable_v<T>) {
        value_ = std::move(other.value_);
        return *this;
    }
    ~counted() { in_->give_back(); }

    [[nodiscard]] T& operator*() noexcept { return value_; }
    [[nodiscard]] T const& operator*() const noexcept { return value_; }
    [[nodiscard]] T* operator->() noexcept { return &value_; }
    [[nodiscard]] T const* operator->() const noexcept { return &value_; }

  private:
    T value_;
    book* in_;
};

} // namespace pitsaw::inline v0::sim
