// A configuration is read, or refused with the file and the line.
#include "fuzz/targets.hpp"

#include "gateway/config.hpp"

#include <string>

namespace pitsaw::fuzz {

void gateway_config(std::string_view const input) {
    if (input.find("://") != input.npos) return; // names of hosts would be looked up
    try {
        auto const read = gateway::read_config(input, "file");
        require(!read.providers.empty(), "a configuration without a provider");
        for (auto const& one : read.providers) require(!one.models.empty(), "a provider without a model");
    } catch (gateway::config_error const& error) {
        require(std::string_view(error.what()).starts_with("file:"), "an error that does not say where");
    }
}

} // namespace pitsaw::fuzz
