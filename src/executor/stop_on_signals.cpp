#include <pitsaw/executor/stop_on_signals.hpp>

#include "os/posix/termination_signals.hpp"

#include <pitsaw/executor/runtime.hpp>

#include <thread>

namespace pitsaw::inline v0 {

struct stop_on_signals::parts {
    termination_signals signals;
    std::thread waits; // for them; none if there are none to wait for
};

stop_on_signals::stop_on_signals(runtime& which) : parts_(std::make_unique<parts>()) {
    if (!parts_->signals.is_watching()) return;
    all_signals_blocked const inherited;
    parts_->waits = std::thread([&signals = parts_->signals, &which] {
        if (signals.wait()) which.request_stop(stop_reason::shutdown);
    });
}

stop_on_signals::~stop_on_signals() {
    if (!parts_->waits.joinable()) return;
    parts_->signals.end();
    parts_->waits.join();
}

} // namespace pitsaw::inline v0
