#include <pitsaw/sim/replay.hpp>

#include "loop/flight_image.hpp"
#include "sim/replay_driver.hpp"

namespace pitsaw::inline v0::sim {

struct recording::parts {
    flight_image image;
};

struct replay::parts {
    parts(recording from, runtime_options options)
        : of(std::move(from)), rt(make_driver(), std::move(options)) {}

    auto make_driver() -> std::unique_ptr<driver> {
        auto made = std::make_unique<replay_driver>(of.parts_->image.inputs(), [this] { rt.request_stop(); });
        driver = made.get();
        return made;
    }

    recording of;
    replay_driver* driver = nullptr; // the runtime's
    runtime rt;
};

recording::recording(std::unique_ptr<parts> made) noexcept : parts_(std::move(made)) {}
recording::recording(recording&&) noexcept = default;
recording& recording::operator=(recording&&) noexcept = default;
recording::~recording() = default;

std::expected<recording, std::string> recording::read(std::string const& path) {
    auto image = flight_image::read(path);
    if (!image) return std::unexpected(image.error());
    if (image->header().inputs_max == 0)
        return std::unexpected(path +
                               ": its runtime held no inputs: set runtime_options::recorder.input_bytes");
    return recording(std::make_unique<parts>(std::move(*image)));
}

std::uint64_t recording::calls() const noexcept {
    return parts_->image.header().inputs.entries.load(std::memory_order_relaxed); // a copy
}

bool recording::is_whole() const noexcept {
    return parts_->image.header().inputs.is_full.load(std::memory_order_relaxed) == 0; // a copy
}

std::uint32_t recording::wakes() const noexcept {
    return parts_->image.header().inputs.wakes.load(std::memory_order_relaxed); // a copy
}

replay::replay(recording of, runtime_options options)
    : parts_(std::make_unique<parts>(std::move(of), std::move(options))) {}
replay::~replay() = default;

runtime& replay::get_runtime() noexcept { return parts_->rt; }
std::uint64_t replay::replayed() const noexcept { return parts_->driver->replayed(); }
std::string const& replay::divergence() const noexcept { return parts_->driver->divergence(); }
std::uint64_t replay::other_bytes_sent() const noexcept { return parts_->driver->other_bytes_sent(); }

} // namespace pitsaw::inline v0::sim
