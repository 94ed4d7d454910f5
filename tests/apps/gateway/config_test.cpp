#include "gateway/config.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

using namespace std::chrono_literals;

namespace {

std::string error_of(std::string_view text) {
    try {
        (void)gateway::read_config(text, "a.toml");
    } catch (gateway::config_error const& error) {
        return error.what();
    }
    return "";
}

constexpr std::string_view provider =
    "[[provider]]\nname = \"p\"\nurl = \"http://127.0.0.1:9/v1\"\nmodels = [\"m\"]\n";

TEST(config, without_a_file_has_a_mock) {
    auto const made = gateway::default_config();
    ASSERT_EQ(made.providers.size(), 1U);
    EXPECT_EQ(made.providers[0].what, gateway::provider_config::kind::mock);
    EXPECT_TRUE(made.providers[0].serves("mock"));
    EXPECT_TRUE(made.providers[0].serves("mock-large"));
    EXPECT_FALSE(made.providers[0].serves("moc"));
    EXPECT_EQ(made.listen.to_string(), "127.0.0.1:8080");
}

TEST(config, the_example_is_read_with_and_without_its_comments) {
    std::ifstream from(PITSAW_GATEWAY_EXAMPLE);
    std::string const text{std::istreambuf_iterator<char>(from), {}};
    EXPECT_EQ(gateway::read_config(text, "example").providers.size(), 2U);
    std::string bare; // what stands behind "# " at a line's beginning is a key, its value the default
    std::size_t at = 0;
    for (auto end = text.find('\n'); end != std::string::npos; at = end + 1, end = text.find('\n', at)) {
        auto line = text.substr(at, end - at);
        bool const is_key = line.starts_with("# ") && line.find(" = ") < line.find(' ', 2) + 1;
        if (is_key && !line.starts_with("# api_key_env")) line.erase(0, 2);
        bare += line + "\n";
    }
    auto const all = gateway::read_config(bare, "example");
    gateway::config const defaults;
    EXPECT_EQ(all.keys.size(), 1U);
    EXPECT_EQ(all.body_bytes_max, defaults.body_bytes_max);
    EXPECT_EQ(all.body_memory_bytes, defaults.body_memory_bytes);
    EXPECT_EQ(all.connections_max, defaults.connections_max);
    EXPECT_EQ(all.drain_timeout, defaults.drain_timeout);
    EXPECT_EQ(all.access_log, defaults.access_log);
    EXPECT_EQ(all.listen, defaults.listen);
    EXPECT_EQ(all.spool_folder, defaults.spool_folder);
    EXPECT_EQ(all.spool_bytes_max, defaults.spool_bytes_max);
    gateway::provider_config const one;
    EXPECT_EQ(all.providers[0].total_timeout, one.total_timeout);
    EXPECT_EQ(all.providers[0].idle_timeout, one.idle_timeout);
    EXPECT_EQ(all.providers[0].connect_timeout, one.connect_timeout);
    EXPECT_EQ(all.providers[0].first_token_timeout, one.first_token_timeout);
    EXPECT_EQ(all.providers[1].tokens, one.tokens);
    EXPECT_EQ(all.providers[1].tokens_per_second, one.tokens_per_second);
    EXPECT_EQ(all.providers[1].first_token_after, one.first_token_after);
}

TEST(config, an_error_names_file_line_and_key) {
    EXPECT_EQ(error_of("[server]\nlisten = 8080\n"), "a.toml:2: server.listen: must be a text in quotes");
    EXPECT_EQ(error_of("[server]\n\nlisten = \"here\"\n"),
              "a.toml:3: server.listen: must be ADDRESS:PORT, as in \"127.0.0.1:8080\"");
    EXPECT_EQ(error_of(std::string(provider) + "total_timeout = 0\n"),
              "a.toml:5: provider[1].total_timeout: must be a number from 0.001 to 86400");
    EXPECT_EQ(error_of(std::string(provider) + "total_timout = 1\n"),
              "a.toml:5: provider[1].total_timout: is no key that there is; see gateway.example.toml");
    EXPECT_EQ(error_of("[server]\nconnections_max = 1.5\n"),
              "a.toml:2: server.connections_max: must be a whole number");
    EXPECT_EQ(error_of("[sever]\n"), "a.toml:1: sever: is no key that there is; see gateway.example.toml");
    EXPECT_EQ(error_of(std::string(provider) + std::string(provider)),
              "a.toml:5: provider: there is another of the name \"p\"");
    EXPECT_TRUE(error_of("[server\n").starts_with("a.toml:1: "));
    for (auto const* const wrong : {"[$]\n", "[\x0e", "[[\x01]]", "a.$ = 1"})
        EXPECT_TRUE(error_of(wrong).starts_with("a.toml:1: ")) << wrong;
    for (auto const* const wrong : {"\n\xc3\x9a", "\n\xc3\x9a = 1", "\na = \"b\" \xc3\x9a", "\n[\xc3\x9a]"})
        EXPECT_EQ(error_of(wrong), "a.toml:2: what is not ASCII may stand in quotes and comments only");
    EXPECT_EQ(error_of("# \xc3\x9a\n" + std::string(provider) + "name2 = \"\xc3\x9a\"\n"),
              "a.toml:6: provider[1].name2: is no key that there is; see gateway.example.toml");
    EXPECT_EQ(error_of("[server]\nkeys = [\"short\"]\n"),
              "a.toml:2: server.keys: must have at least 8 characters");
    EXPECT_EQ(error_of(std::string(provider) + "api_key = \"short\"\n"),
              "a.toml:5: provider[1].api_key: must have at least 8 characters");
    EXPECT_TRUE(error_of("[server]\nspool_folder = \"/nowhere\"\n")
                    .starts_with("a.toml:2: server.spool_folder: must be a folder that can be written to"));
    EXPECT_EQ(error_of("provider = 1"), "a.toml:1: provider: must be tables: [[provider]]");
}

std::string error_of_url(std::string const& url) {
    return error_of("[[provider]]\nname = \"p\"\nmodels = [\"m\"]\nurl = \"" + url + "\"\n");
}

TEST(config, a_url_has_a_host_a_port_and_a_path) {
    auto const made = gateway::read_config(
        "[[provider]]\nname = \"p\"\nmodels = [\"m\"]\nurl = \"http://[::1]:8000/api/v1/\"\n", "a.toml");
    ASSERT_EQ(made.providers[0].at.size(), 1U);
    EXPECT_EQ(made.providers[0].at[0].to_string(), "[::1]:8000");
    EXPECT_EQ(made.providers[0].host, "[::1]:8000");
    EXPECT_EQ(made.providers[0].path, "/api/v1");
    auto const named = gateway::read_config(
        "[[provider]]\nname = \"p\"\nmodels = [\"m\"]\nurl = \"http://localhost\"\n", "a.toml");
    ASSERT_FALSE(named.providers[0].at.empty());
    for (auto const& at : named.providers[0].at) EXPECT_EQ(at.port(), 80);
    EXPECT_EQ(error_of_url("https://a/v1"),
              "a.toml:4: provider[1].url: must begin with http://; TLS is not there yet");
    for (auto const* const wrong :
         {"", "http://", "ftp://a", "http://a:b@c/", "http://127.0.0.1:99999", "http://a/?q"})
        EXPECT_TRUE(error_of_url(wrong).starts_with("a.toml:4: provider[1].url: ")) << wrong;
}

TEST(config, a_key_comes_from_the_environment) {
    setenv("A_KEY_OF_THIS_TEST", "a-key-for-this", 1);
    auto const made =
        gateway::read_config(std::string(provider) + "api_key_env = \"A_KEY_OF_THIS_TEST\"", "a.toml");
    EXPECT_EQ(made.providers[0].api_key.reveal(), "a-key-for-this");
    unsetenv("A_KEY_OF_THIS_TEST");
    EXPECT_EQ(error_of(std::string(provider) + "api_key_env = \"A_KEY_OF_THIS_TEST\""),
              "a.toml:5: provider[1].api_key_env: the environment has no such variable, or it is empty");
}

TEST(secret, is_itself_and_nothing_else) {
    gateway::secret const key("key");
    EXPECT_TRUE(key.is("key"));
    for (auto const* const other : {"", "ke", "kez", "keykey", "key "}) EXPECT_FALSE(key.is(other)) << other;
    EXPECT_FALSE(gateway::secret().is("key"));
}

} // namespace
