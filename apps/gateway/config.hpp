#pragma once
#include "gateway/secret.hpp"

#include <pitsaw/base/clock.hpp>
#include <pitsaw/net/endpoint.hpp>

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace gateway {

/// Somebody who answers for models.
struct provider_config {
    enum class kind : std::uint8_t {
        openai, ///< speaks OpenAI's wire format over HTTP
        mock,   ///< in this process: the same tokens every time
    };

    std::string name;
    kind what = kind::openai;
    std::vector<std::string> models; ///< names, or beginnings of names with a `*` behind them

    std::vector<pitsaw::endpoint>
        at;           ///< of `openai`: where it is, all that its name stands for at the start,
    std::string host; ///< what it is called,
    std::string path; ///< and what stands before `/chat/completions`
    secret api_key;
    pitsaw::duration connect_timeout = std::chrono::seconds(5);
    pitsaw::duration first_token_timeout = std::chrono::seconds(60); ///< of a stream
    pitsaw::duration idle_timeout = std::chrono::seconds(60);        ///< between two pieces of an answer
    pitsaw::duration total_timeout = std::chrono::seconds(600);

    double tokens_per_second = 50; ///< of `mock`
    std::uint32_t tokens = 32;
    pitsaw::duration first_token_after = std::chrono::milliseconds(200);

    [[nodiscard]] bool serves(std::string_view model) const noexcept;
};

struct config {
    pitsaw::endpoint listen = pitsaw::endpoint::loopback(8080);
    std::vector<secret> keys;                               ///< of clients; none: whoever can connect is one
    std::uint32_t workers = 1;                              ///< threads that serve; 0: one for each processor
    std::uint32_t connections_max = 0;                      ///< 0: as many as there are descriptors for
    std::uint64_t body_bytes_max = std::uint64_t{64} << 20; ///< of a request
    std::uint32_t body_memory_bytes = 256 << 10;            ///< of it; what is longer waits in a file
    std::string spool_folder = "/tmp";                      ///< for such files, which have no name
    std::uint64_t spool_bytes_max = std::uint64_t{4} << 30; ///< of all of them
    pitsaw::duration drain_timeout = std::chrono::seconds(30);
    std::string access_log = "-"; ///< a file; `-`: the standard output; empty: none
    std::vector<provider_config> providers;
};

/// What is wrong with a configuration: `FILE:LINE: KEY: what, and what to do`.
struct config_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Reads a configuration in TOML; `gateway.example.toml` shows every key. Keys that nobody knows are errors.
///
/// Names of hosts are looked up here, once. Errors: config_error.
[[nodiscard]] config read_config(std::string_view text, std::string_view file);

/// Without a file: a mock on port 8080.
[[nodiscard]] config default_config();

} // namespace gateway
