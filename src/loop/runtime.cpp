#include <pitsaw/executor/runtime.hpp>

#include "loop/choose_driver.hpp"
#include "loop/crew.hpp"
#include "loop/worker.hpp"

#include "os/linux/cpu_affinity.hpp"
#include "os/posix/whole_file.hpp"

#include <optional>
#include <system_error>
#include <utility>

namespace pitsaw::inline v0 {

runtime::runtime(runtime_options options)
    : runtime(
          [](std::uint32_t const number) { return number == 0 ? choose_driver() : choose_driver_again(); },
          std::move(options)) {}

runtime::runtime(std::unique_ptr<driver> own, runtime_options options) {
    if (options.workers != 1)
        throw std::system_error(
            std::make_error_code(std::errc::invalid_argument),
            "runtime_options::workers: a runtime that is given one driver has one worker; "
            "give it a function that makes one for each");
    crew_ = std::make_unique<crew>([&own](std::uint32_t) { return std::move(own); }, std::move(options),
                                   crew::run_by::threads);
}

runtime::runtime(driver_maker const& make_driver, runtime_options options)
    : crew_(std::make_unique<crew>(make_driver, std::move(options), crew::run_by::threads)) {}

runtime::runtime(by_steps, driver_maker const& make_driver, runtime_options options)
    : crew_(std::make_unique<crew>(make_driver, std::move(options), crew::run_by::steps)) {}

runtime::~runtime() = default;

worker& runtime::loop(std::uint32_t const number) const noexcept { return crew_->at(number); }

executor_ref runtime::get_executor(std::uint32_t const number) const noexcept {
    check(number < worker_count(), "runtime::get_executor: there is no worker of this number");
    return *crew_->members()[number];
}

std::uint32_t runtime::worker_count() const noexcept {
    return static_cast<std::uint32_t>(crew_->members().size());
}

void runtime::request_stop(stop_reason const why) noexcept { loop().request_stop(why); }

std::error_code runtime::save_record(char const* const path) const noexcept {
    auto const* const recorder = loop().recorder;
    if (recorder == nullptr) return std::make_error_code(std::errc::operation_not_supported);
    auto const result = posix::write_whole_file(path, recorder->image());
    return result == 0 ? std::error_code() : to_error(result);
}

root_run::root_run(runtime& on) : worker_(on.loop()) {
    check(current_executor() == nullptr,
          "sync_wait was called by a task or a second runtime's thread: co_await instead");
    check(!worker_.is_running(), "sync_wait on a runtime that another thread runs");
    env_ = environment{worker_, worker_.stop.get_token(), nullptr, worker_.local};
    exchange_current_executor(&worker_);
}

root_run::~root_run() { exchange_current_executor(nullptr); }

void root_run::drive(boundary& edge, bool const& is_done) noexcept {
    std::optional<pinned_thread> pinned;
    if (worker_.cpu) pinned.emplace(*worker_.cpu);
    worker_.root = &edge;
    worker_.run(is_done);
    worker_.root = nullptr;
}

} // namespace pitsaw::inline v0
