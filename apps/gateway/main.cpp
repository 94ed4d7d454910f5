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
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace {

gateway::config load(std::string const& file) {
    std::ifstream from(file, std::ios::binary);
    if (!from || std::filesystem::is_directory(file)) throw gateway::config_error(file + ": cannot be read");
    std::string const text{std::istreambuf_iterator<char>(from), {}};
    return gateway::read_config(text, file);
}

/// A client in a call has a second descriptor for its provider, and the program a few.
void make_room_for_connections(gateway::config& how) {
    constexpr rlim_t few = 100, connections_max = 1'000'000;
    auto const own = rlim_t{20} + 4 * how.workers;
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    auto const most = (std::max(limit.rlim_cur, own + 2) - own) / 2;
    auto const hard = static_cast<unsigned long long>(limit.rlim_cur);
    if (how.connections_max > most)
        throw gateway::config_error("server.connections_max: for " + std::to_string(how.connections_max) +
                                    " `ulimit -Hn` must be " + std::to_string(2 * how.connections_max + own) +
                                    ", and it is " + std::to_string(hard));
    if (how.connections_max != 0) return;
    how.connections_max = static_cast<std::uint32_t>(std::min(most, connections_max));
    if (most < few)
        std::fprintf(stderr, "gateway: room for %u connections only, for `ulimit -Hn` is %llu\n",
                     how.connections_max, hard);
}

/// The exit code. A connection to a provider that is kept lives in the service, which therefore ends before
/// its runtime.
pitsaw::task<int> serve(gateway::config how, gateway::surroundings with, bool is_built_in) {
    auto const at = how.listen;
    auto const workers = how.workers;
    gateway::gateway_service service(std::move(how), std::move(with));
    pitsaw::tcp_listener_options shared;
    shared.reuse_port = workers > 1;
    auto listener = co_await pitsaw::tcp_listener::bind(at, shared);
    if (!listener.has_value()) {
        std::fprintf(stderr, "gateway: cannot listen on %s: %s; --listen names another place\n",
                     at.to_string().c_str(), listener.error().message().c_str());
        co_return 1;
    }
    auto const here = listener->local_endpoint().value_or(at);
    std::fprintf(stderr, "gateway: http://%s/v1\n", here.to_string().c_str());
    if (is_built_in)
        std::fprintf(stderr,
                     "gateway: a mock model answers, as there is no --config: curl -N "
                     "http://%s/v1/chat/completions -d '{\"model\": \"mock\", \"stream\": true}'\n",
                     here.to_string().c_str());
    auto const end = co_await service.serve(std::move(*listener));
    if (!end.has_value()) std::fprintf(stderr, "gateway: %s\n", end.error().message().c_str());
    co_return end.has_value() ? 0 : 1;
}

} // namespace

int main(int count, char** words) {
    CLI::App program("An OpenAI-compatible gateway. Without a configuration a mock model answers.",
                     "gateway");
    std::string file, listen;
    bool only_check = false;
    program.add_option("--config", file, "a file like gateway.example.toml");
    std::optional<std::uint32_t> workers;
    program
        .add_option("--workers", workers,
                    "threads that serve, instead of the configuration's; 0: one for each processor")
        ->check(CLI::Range(0U, pitsaw::runtime_options::workers_max));
    program.add_option("--listen", listen, "ADDRESS:PORT, instead of the configuration's");
    program.add_flag("--check", only_check, "read the configuration, say whether it is good, and end");
    CLI11_PARSE(program, count, words);
    try {
        bool const is_built_in = program.count("--config") == 0;
        auto how = is_built_in ? gateway::default_config() : load(file);
        if (!listen.empty()) {
            auto const at = pitsaw::endpoint::parse(listen);
            if (!at) throw gateway::config_error("--listen: must be ADDRESS:PORT, as in 127.0.0.1:8080");
            how.listen = *at;
        }
        if (workers) how.workers = *workers;
        if (only_check) {
            std::printf("the configuration is good\n");
            return 0;
        }
        if (how.workers == 0) how.workers = std::max(1U, std::thread::hardware_concurrency());
        make_room_for_connections(how);
        std::signal(SIGPIPE, SIG_IGN); // a reader of the log may leave
        gateway::access_log log(how.access_log);
        gateway::surroundings with;
        with.log = [&log](std::string_view line) { log.write(line); };
        with.log_lines_dropped = [&log] { return log.dropped(); };
        pitsaw::runtime_options options;
        options.workers = how.workers;
        return pitsaw::run(serve(std::move(how), std::move(with), is_built_in), options);
    } catch (std::exception const& error) {
        std::fprintf(stderr, "gateway: %s\n", error.what());
        return 1;
    }
}
