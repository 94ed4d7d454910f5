// The program `gateway`.
#include "gateway/access_log.hpp"
#include "gateway/gateway.hpp"

#include <pitsaw/executor/stop_on_signals.hpp>
#include <pitsaw/pitsaw.hpp>

#include <CLI/CLI.hpp>

#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

namespace {

gateway::config load(std::string const& file) {
    if (file.empty()) return gateway::default_config();
    std::ifstream from(file, std::ios::binary);
    if (!from || std::filesystem::is_directory(file)) throw gateway::config_error(file + ": cannot be read");
    std::string const text{std::istreambuf_iterator<char>(from), {}};
    return gateway::read_config(text, file);
}

/// A client in a call needs a second descriptor for its provider, and the program a few: where nothing is
/// said, each client has two.
void make_room_for_connections(gateway::config& how) {
    constexpr rlim_t own = 64, connections_max = 1'000'000;
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    auto const free = std::max(limit.rlim_cur, own) - own;
    if (how.connections_max > free)
        throw gateway::config_error("server.connections_max: for " + std::to_string(how.connections_max) +
                                    " `ulimit -Hn` must be " + std::to_string(how.connections_max + own) +
                                    ", and it is " + std::to_string(limit.rlim_cur));
    if (how.connections_max == 0)
        how.connections_max = static_cast<std::uint32_t>(std::clamp<rlim_t>(free / 2, 1, connections_max));
}

/// A connection to a provider that is kept lives in the service, which therefore ends before its runtime.
pitsaw::task<pitsaw::io_result<void>> serve(gateway::config how, gateway::surroundings with) {
    auto const at = how.listen;
    gateway::gateway_service service(std::move(how), std::move(with));
    auto listener = co_await pitsaw::tcp_listener::bind(at);
    if (!listener.has_value()) {
        std::fprintf(stderr, "gateway: cannot listen on %s: %s; --listen names another place\n",
                     at.to_string().c_str(), listener.error().message().c_str());
        co_return std::unexpected(listener.error());
    }
    auto const here = co_await pitsaw::or_return(listener->local_endpoint());
    std::fprintf(stderr, "gateway: http://%s/v1\n", here.to_string().c_str());
    co_return co_await service.serve(std::move(*listener));
}

} // namespace

int main(int count, char** words) {
    CLI::App program("An OpenAI-compatible gateway. Without a configuration a mock model answers.",
                     "gateway");
    std::string file, listen;
    bool only_check = false;
    program.add_option("--config", file, "a file like gateway.example.toml");
    program.add_option("--listen", listen, "ADDRESS:PORT, instead of the configuration's");
    program.add_flag("--check", only_check, "read the configuration, say whether it is good, and end");
    CLI11_PARSE(program, count, words);
    try {
        auto how = load(file);
        if (!listen.empty()) {
            auto const at = pitsaw::endpoint::parse(listen);
            if (!at) throw gateway::config_error("--listen: must be ADDRESS:PORT, as in 127.0.0.1:8080");
            how.listen = *at;
        }
        if (only_check) {
            std::printf("the configuration is good\n");
            return 0;
        }
        make_room_for_connections(how);
        std::signal(SIGPIPE, SIG_IGN); // a reader of the log may leave
        gateway::access_log log(how.access_log);
        gateway::surroundings with;
        with.log = [&log](std::string_view line) { log.write(line); };
        with.log_lines_dropped = [&log] { return log.dropped(); };
        return pitsaw::run(serve(std::move(how), std::move(with)));
    } catch (std::exception const& error) {
        std::fprintf(stderr, "gateway: %s\n", error.what());
        return 1;
    }
}
