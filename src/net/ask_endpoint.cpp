#include "net/ask_endpoint.hpp"

#include <pitsaw/io/driver.hpp>

#include <system_error>

namespace pitsaw::inline v0 {

io_result<endpoint> ask_endpoint(executor_ref const home, descriptor const of,
                                 socket_command::kind const which) noexcept {
    if (!of) return std::unexpected(std::make_error_code(std::errc::bad_file_descriptor));
    socket_command ask{.what = which};
    if (auto const done = home->io->control(of, ask); !done) return std::unexpected(done.error());
    return endpoint(ask.address);
}

} // namespace pitsaw::inline v0
