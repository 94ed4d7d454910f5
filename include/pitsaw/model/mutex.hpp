#pragma once
#include <pitsaw/model/access.hpp>

#include <mutex>
#include <source_location>

namespace pitsaw::inline v0::model {

/// `std::mutex` for a body that `explore` runs. Lifetime, threads: as `atomic`. Errors: a thread that locks
/// what it holds, or unlocks what it does not, is reported.
class mutex {
    using location = std::source_location;

  public:
    mutex() noexcept {
        if (detail::is_exploring()) detail::made(place({}));
    }
    mutex(mutex const&) = delete;
    ~mutex() {
        if (detail::is_exploring()) detail::gone(this);
    }

    void lock(location where = location::current()) noexcept {
        if (detail::is_exploring()) detail::lock(place(where));
    }
    [[nodiscard]] auto try_lock(location where = location::current()) noexcept -> bool {
        return !detail::is_exploring() || detail::try_lock(place(where));
    }
    void unlock(location where = location::current()) noexcept {
        if (detail::is_exploring()) detail::unlock(place(where));
    }

  private:
    friend class condition_variable;
    [[nodiscard]] auto place(location where) const noexcept -> detail::place {
        return {this, &detail::mutex_traits, 0, where};
    }
};

/// `std::condition_variable` for the model; it does not wake without reason. A thread that waits for ever is
/// reported.
class condition_variable {
    using location = std::source_location;

  public:
    condition_variable() noexcept {
        if (detail::is_exploring()) detail::made(place({}));
    }
    condition_variable(condition_variable const&) = delete;
    ~condition_variable() {
        if (detail::is_exploring()) detail::gone(this);
    }

    void wait(std::unique_lock<mutex>& held, location where = location::current()) noexcept {
        if (detail::is_exploring()) detail::await_condition(place(where), held.mutex()->place(where));
    }
    template <class Predicate>
    void wait(std::unique_lock<mutex>& held, Predicate holds, location where = location::current()) {
        while (!holds()) wait(held, where);
    }
    void notify_one(location where = location::current()) noexcept {
        if (detail::is_exploring()) detail::notify(place(where), false);
    }
    void notify_all(location where = location::current()) noexcept {
        if (detail::is_exploring()) detail::notify(place(where), true);
    }

  private:
    [[nodiscard]] auto place(location where) const noexcept -> detail::place {
        return {this, &detail::condition_traits, 0, where};
    }
};

} // namespace pitsaw::inline v0::model
