#pragma once
#include <pitsaw/task/sync_wait.hpp>

#include <string>
#include <type_traits>
#include <utility>

namespace pitsaw::inline v0::sim {

/// What went wrong with a program that threw `failure`.
[[nodiscard]] std::string describe(std::exception_ptr const& failure);

/// One life of a node's program: a chain whose values nobody wants.
///
/// Lifetime: made, started and destroyed while its worker is the thread's current one.
class program {
  public:
    program() = default;
    program(program&&) = delete;
    virtual ~program() = default;

    virtual void start(environment const& in) noexcept = 0;
    [[nodiscard]] virtual bool const& is_done() const noexcept = 0;
    [[nodiscard]] virtual boundary& edge() noexcept = 0;
    /// Once, after the end; empty if it ended with a value that is no error, or was stopped.
    [[nodiscard]] virtual std::string failure() = 0;
};

template <class T> class program_of final : public program {
  public:
    explicit program_of(task<T>&& work) : chain_(std::move(work)) {}

    void start(environment const& in) noexcept override { chain_.start(in); }
    [[nodiscard]] bool const& is_done() const noexcept override { return chain_.is_done(); }
    [[nodiscard]] boundary& edge() noexcept override { return chain_.edge(); }
    [[nodiscard]] outcome<T> take() { return chain_.take(); }
    [[nodiscard]] std::string failure() override {
        auto const end = take();
        if (end.is_stopped()) return {};
        if (end.has_exception()) return describe(end.exception());
        if constexpr (is_expected<std::remove_cvref_t<T>>)
            if (!end.value().has_value()) return end.value().error().message();
        return {};
    }

  private:
    root_chain<T> chain_;
};

} // namespace pitsaw::inline v0::sim
