#pragma once
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace pitsaw::fuzz {

/// Ends the process, which is how a fuzzer learns that it has found something.
inline void require(bool const holds, char const* const what) {
    if (holds) return;
    std::fprintf(stderr, "fuzz: %s\n", what);
    std::abort();
}

/// What is fed with bytes from outside: each takes any input, and ends the process if its parser breaks a
/// rule.
using target = void (*)(std::string_view input);

void addresses(std::string_view input);
void gateway_config(std::string_view input);
void gateway_scan(std::string_view input);
void http_chunked(std::string_view input);
void http_client(std::string_view input);
void http_events(std::string_view input);
void http_heads(std::string_view input);
void http_server(std::string_view input);

} // namespace pitsaw::fuzz
