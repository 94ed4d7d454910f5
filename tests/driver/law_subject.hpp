#pragma once
#include <pitsaw/io/driver.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace pitsaw::laws {

/// A listener and the bytes that `connect` takes to reach it.
struct listening {
    descriptor listener;
    std::vector<std::byte> address;
};

/// A driver under the laws, with the few things of its world that the interface does not make.
///
/// A new driver enters the suite by one of these and one line in `driver_cases`.
class law_subject {
  public:
    virtual ~law_subject() = default;

    [[nodiscard]] virtual auto io() -> driver& = 0; // what is judged
    [[nodiscard]] virtual auto connected_pair() -> std::pair<descriptor, descriptor> = 0;
    [[nodiscard]] virtual auto socket() -> descriptor = 0; // not connected
    [[nodiscard]] virtual auto listen(std::size_t backlog_max) -> listening = 0;
    [[nodiscard]] virtual auto address_of_nobody() -> std::vector<std::byte> = 0; // connect is refused there
    [[nodiscard]] virtual auto file() -> native_handle = 0; // no socket; none where there are no files
    virtual void reset(descriptor stream) = 0;              // breaks the connection; both ends learn of it
    [[nodiscard]] virtual auto open_objects() -> std::size_t = 0; // sockets, file descriptors, ...

    /// Ends everything in flight without judging, so that a failed law leaves nothing behind.
    virtual void abandon() noexcept = 0;
};

/// One way to run the suite.
struct driver_case {
    std::string name;
    std::function<std::unique_ptr<law_subject>()> make;

    friend void PrintTo(driver_case const& which, std::ostream* to) { *to << which.name; }
};

[[nodiscard]] auto driver_cases() -> std::vector<driver_case>;

} // namespace pitsaw::laws
