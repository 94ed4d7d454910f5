// The program `gateway`.
#include "gateway/access_log.hpp"
#include "gateway/gateway.hpp"

#include <pitsaw/executor/stop_on_signals.hpp>
#include <pitsaw/pitsaw.hpp>

#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <string>

namespace {

gateway::config load(std::string const& file) {
    if (file.empty()) return gateway::default_config();
    std::ifstream from(file, std::ios::binary);
    if (!from) throw gateway::config_error(file + ": cannot be read");
    std::string const text{std::istreambuf_iterator<char>(from), {}};
    return gateway::read_config(text, file);
}

pitsaw::task<pitsaw::io_result<void>> serve(gateway::gateway_service& service, pitsaw::endpoint at) {
    auto listener = co_await pitsaw::tcp_listener::bind(at);
    if (!listener.has_value()) {
        std::fprintf(stderr, "gateway: cannot listen on %s: %s; --listen names another place\n",
                     at.to_string().c_str(), listener.error().message().c_str());
        co_return std::unexpected(listener.error());
    }
    auto const here = co_await pitsaw::or_return(listener->local_endpoint());
    std::fprintf(stderr, "gateway: http://%s/v1\n", here.to_string().c_str());
    co_return co_await service.serve(*listener);
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
        auto const at = how.listen;
        gateway::access_log log(how.access_log);
        gateway::surroundings with;
        with.log = [&log](std::string_view line) { log.write(line); };
        with.log_lines_dropped = [&log] { return log.dropped(); };
        gateway::gateway_service service(std::move(how), std::move(with));
        return pitsaw::run(serve(service, at));
    } catch (std::exception const& error) {
        std::fprintf(stderr, "gateway: %s\n", error.what());
        return 1;
    }
}
