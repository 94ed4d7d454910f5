#include "gateway/config.hpp"

#define TOML_HEADER_ONLY 1
// toml++ 3.3 asserts, and under NDEBUG has the compiler assume, what a file may violate: "[$]". Neither here.
#undef NDEBUG
#define TOML_ASSERT(condition) static_cast<void>(0)
#include <pitsaw/executor/runtime.hpp>

#include <toml++/toml.h>

#include <fcntl.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>

namespace gateway {
namespace {

constexpr std::string_view built_in = R"(
[[provider]]
name = "mock"
kind = "mock"
models = ["mock", "mock-*"]
)";

/// Reads the keys of one table, and knows which were asked for.
class table_reader {
  public:
    table_reader(toml::table const& of, std::string_view file, std::string where)
        : table_(of), file_(file), where_(std::move(where)) {}

    [[noreturn]] void fail(toml::node const* at, std::string_view key, std::string_view what) const {
        auto const line = (at != nullptr ? at->source() : table_.source()).begin.line;
        auto const name =
            where_.empty() || key.empty() ? where_ + std::string(key) : where_ + "." + std::string(key);
        throw config_error(std::string(file_) + ":" + std::to_string(line) + ": " + name + ": " +
                           std::string(what));
    }

    [[nodiscard]] toml::node const* find(std::string_view key) {
        asked_.emplace(key);
        return table_.get(key);
    }

    void text(std::string_view key, std::string& into) {
        auto const* const at = find(key);
        if (at == nullptr) return;
        auto const value = at->value_exact<std::string>();
        if (!value) fail(at, key, "must be a text in quotes");
        into = *value;
    }
    void texts(std::string_view key, std::vector<std::string>& into) {
        auto const* const at = find(key);
        if (at == nullptr) return;
        auto const* const list = at->as_array();
        if (list == nullptr) fail(at, key, "must be a list of texts: [\"a\", \"b\"]");
        for (auto const& each : *list) {
            auto const value = each.value_exact<std::string>();
            if (!value || value->empty()) fail(&each, key, "must be a list of texts, none of them empty");
            into.push_back(*value);
        }
    }
    void number(std::string_view key, double& into, double least, double most) {
        auto const* const at = find(key);
        if (at == nullptr) return;
        auto const value = at->value<double>();
        if (!at->is_number() || !value || !(*value >= least && *value <= most)) {
            std::string range = toml_number(least) + " to " + toml_number(most);
            fail(at, key, "must be a number from " + range);
        }
        into = *value;
    }
    template <class Integer> void count(std::string_view key, Integer& into, double least, double most) {
        auto value = static_cast<double>(into);
        number(key, value, least, most);
        if (value != std::floor(value)) fail(table_.get(key), key, "must be a whole number");
        into = static_cast<Integer>(value);
    }
    void seconds(std::string_view key, pitsaw::duration& into) {
        constexpr double day = 86'400;
        double value = std::chrono::duration<double>(into).count();
        number(key, value, 0.001, day);
        into = std::chrono::duration_cast<pitsaw::duration>(std::chrono::duration<double>(value));
    }
    /// The value of `KEY`, or of the environment's variable that `KEY_env` names.
    void hidden(std::string_view key, std::string& into) {
        text(key, into);
        auto const by_name = std::string(key) + "_env";
        std::string variable;
        text(by_name, variable);
        if (variable.empty()) return;
        if (!into.empty())
            fail(table_.get(by_name), by_name, "stands beside " + std::string(key) + "; keep one of them");
        auto const* const value = std::getenv(variable.c_str());
        if (value == nullptr || *value == '\0')
            fail(table_.get(by_name), by_name, "the environment has no such variable, or it is empty");
        into = value;
    }

    /// What was not asked for is a mistake.
    void finish() const {
        for (auto const& [key, node] : table_)
            if (!asked_.contains(std::string(key.str())))
                fail(&node, key.str(), "is no key that there is; see gateway.example.toml");
    }

  private:
    static std::string toml_number(double value) {
        auto text = std::to_string(value);
        text.erase(text.find_last_not_of('0') + 1);
        if (text.ends_with('.')) text.pop_back();
        return text;
    }

    toml::table const& table_;
    std::string_view file_;
    std::string where_;
    std::set<std::string, std::less<>> asked_;
};

std::vector<pitsaw::endpoint> look_up(table_reader& reader, std::string const& host,
                                      std::string const& port) {
    auto const with_port = [&port](std::string const& name) {
        bool const is_bare_v6 = !name.starts_with('[') && name.find(':') != std::string::npos;
        return pitsaw::endpoint::parse((is_bare_v6 ? "[" + name + "]" : name) + ":" + port);
    };
    if (auto const literal = with_port(host)) return {*literal};
    addrinfo wanted{};
    wanted.ai_flags = AI_ADDRCONFIG;
    wanted.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    int const error = getaddrinfo(host.c_str(), port.c_str(), &wanted, &found);
    if (error != 0)
        reader.fail(reader.find("url"), "url", "'" + host + "' is not known: " + gai_strerror(error));
    std::vector<pitsaw::endpoint> all;
    for (auto const* each = found; each != nullptr; each = each->ai_next) {
        char text[NI_MAXHOST];
        if (getnameinfo(each->ai_addr, each->ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0)
            continue;
        if (auto const at = with_port(text)) all.push_back(*at);
    }
    freeaddrinfo(found);
    if (all.empty()) reader.fail(reader.find("url"), "url", "'" + host + "' has no address that can be used");
    return all;
}

/// `http://HOST[:PORT][/PATH]`.
void read_url(table_reader& reader, provider_config& into) {
    constexpr std::string_view scheme = "http://";
    std::string url;
    reader.text("url", url);
    auto const fail = [&](std::string_view what) { reader.fail(reader.find("url"), "url", what); };
    if (url.empty()) fail("is missing: where the provider is, as in \"http://127.0.0.1:8000/v1\"");
    if (url.starts_with("https://")) fail("must begin with http://; TLS is not there yet");
    if (!url.starts_with(scheme)) fail("must begin with http://");
    auto const slash = std::min(url.find('/', scheme.size()), url.size());
    into.host = url.substr(scheme.size(), slash - scheme.size());
    into.path = url.substr(slash);
    while (into.path.ends_with('/')) into.path.pop_back();
    auto const is_odd = [](char c) { return c <= ' ' || c > '~' || c == '?' || c == '#'; };
    if (std::ranges::any_of(url, is_odd)) fail("must be visible ASCII, without a query or a fragment");
    if (into.host.find('@') != std::string::npos) fail("must have no user");
    auto const colon = into.host.rfind(':');
    bool const has_port = colon != std::string::npos && into.host.find(']', colon) == std::string::npos;
    auto const name = into.host.substr(0, has_port ? colon : std::string::npos);
    auto const port = has_port ? into.host.substr(colon + 1) : std::string("80");
    if (name.empty()) fail("must have a host");
    unsigned number = 0;
    auto const [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
    if (error != std::errc() || end != port.data() + port.size() || number == 0 || number > 65535)
        fail("must have a port from 1 to 65535");
    into.at = look_up(reader, name, port);
}

/// Empty: there is none.
void check_key(table_reader& reader, std::string_view name, std::string_view key) {
    if (std::ranges::any_of(key, [](char c) { return c <= ' ' || c > '~'; }))
        reader.fail(reader.find(name), name, "must be visible characters without spaces");
    if (!key.empty() && key.size() < secret::bytes_min)
        reader.fail(reader.find(name), name,
                    "must have at least " + std::to_string(secret::bytes_min) + " characters");
}

provider_config read_provider(toml::table const& from, std::string_view file, std::size_t number) {
    table_reader reader(from, file, "provider[" + std::to_string(number) + "]");
    provider_config made;
    std::string kind = "openai", key;
    reader.text("name", made.name);
    if (made.name.empty())
        reader.fail(reader.find("name"), "name", "is missing: what logs and metrics call it");
    reader.text("kind", kind);
    reader.texts("models", made.models);
    if (made.models.empty())
        reader.fail(reader.find("models"), "models",
                    "is missing: the models that it answers for, as in [\"llama-*\"]");
    if (kind == "mock") {
        made.what = provider_config::kind::mock;
        reader.number("tokens_per_second", made.tokens_per_second, 0.01, 1e6);
        reader.count("tokens", made.tokens, 1, 1e6);
        reader.seconds("first_token_after", made.first_token_after);
    } else if (kind == "openai") {
        read_url(reader, made);
        reader.hidden("api_key", key);
        check_key(reader, "api_key", key);
        made.api_key = secret(key);
        reader.seconds("connect_timeout", made.connect_timeout);
    } else {
        reader.fail(reader.find("kind"), "kind", "must be \"openai\" or \"mock\"");
    }
    reader.seconds("first_token_timeout", made.first_token_timeout);
    reader.seconds("idle_timeout", made.idle_timeout);
    reader.seconds("total_timeout", made.total_timeout);
    reader.finish();
    return made;
}

void read_server(toml::table const& from, std::string_view file, config& into) {
    table_reader reader(from, file, "server");
    std::string listen;
    reader.text("listen", listen);
    if (reader.find("listen") != nullptr) {
        auto const at = pitsaw::endpoint::parse(listen);
        if (!at)
            reader.fail(reader.find("listen"), "listen", "must be ADDRESS:PORT, as in \"127.0.0.1:8080\"");
        into.listen = *at;
    }
    std::vector<std::string> keys;
    reader.texts("keys", keys);
    if (auto const* const at = reader.find("keys"); at != nullptr && keys.empty())
        reader.fail(at, "keys", "must not be empty; without the line nobody is asked for a key");
    for (auto& each : keys) {
        check_key(reader, "keys", each);
        into.keys.emplace_back(std::move(each));
    }
    constexpr double gibibyte = 1 << 30;
    reader.count("workers", into.workers, 0, pitsaw::runtime_options::workers_max);
    reader.count("connections_max", into.connections_max, 0, 1e6);
    reader.count("body_bytes_max", into.body_bytes_max, 1, 16 * gibibyte);
    reader.count("body_memory_bytes", into.body_memory_bytes, 4096, gibibyte);
    reader.count("spool_bytes_max", into.spool_bytes_max, 0, 1024 * gibibyte);
    reader.text("spool_folder", into.spool_folder);
    int const probe = ::open(into.spool_folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (probe < 0)
        reader.fail(reader.find("spool_folder"), "spool_folder",
                    "must be a folder that can be written to, on a file system with O_TMPFILE: " +
                        std::generic_category().message(errno));
    ::close(probe);
    reader.seconds("drain_timeout", into.drain_timeout);
    reader.text("access_log", into.access_log);
    reader.finish();
}

/// Where a character beyond ASCII stands outside of quotes and comments, which TOML 1.0 does not know and
/// toml++ 3.3 takes for unreachable; npos: nowhere.
std::size_t find_odd_character(std::string_view const text) noexcept {
    std::string_view quote; // within it
    for (std::size_t i = 0; i < text.size(); ++i) {
        auto const rest = text.substr(i);
        char const c = rest.front();
        if (!quote.empty()) {
            bool const is_cut_off = c == '\n' && quote.size() == 1;
            if (c == '\\' && quote.front() == '"') {
                ++i;
            } else if (rest.starts_with(quote) || is_cut_off) {
                i += is_cut_off ? 0 : quote.size() - 1;
                quote = {};
            }
        } else if (c == '#') {
            i = std::min(text.find('\n', i), text.size() - 1);
        } else if (c == '"' || c == '\'') {
            auto const three = rest.substr(0, 3);
            bool const is_long = three == "\"\"\"" || three == "'''";
            quote = is_long ? three : rest.substr(0, 1);
            i += quote.size() - 1;
        } else if (static_cast<unsigned char>(c) > '~') {
            return i;
        }
    }
    return std::string_view::npos;
}

} // namespace

bool provider_config::serves(std::string_view const model) const noexcept {
    return std::ranges::any_of(models, [model](std::string_view pattern) {
        if (!pattern.ends_with('*')) return pattern == model;
        return model.starts_with(pattern.substr(0, pattern.size() - 1));
    });
}

config read_config(std::string_view const text, std::string_view const file) {
    if (auto const odd = find_odd_character(text); odd != std::string_view::npos) {
        auto const line = 1 + std::ranges::count(text.substr(0, odd), '\n');
        throw config_error(std::string(file) + ":" + std::to_string(line) +
                           ": what is not ASCII may stand in quotes and comments only");
    }
    toml::table parsed;
    try {
        parsed = toml::parse(text, file);
    } catch (toml::parse_error const& error) {
        throw config_error(std::string(file) + ":" + std::to_string(error.source().begin.line) + ": " +
                           std::string(error.description()));
    }
    config made;
    table_reader reader(parsed, file, "");
    if (auto const* const at = reader.find("server")) {
        if (!at->is_table()) reader.fail(at, "server", "must be a table: [server]");
        read_server(*at->as_table(), file, made);
    }
    auto const* const providers = reader.find("provider");
    if (providers != nullptr && !providers->is_array_of_tables())
        reader.fail(providers, "provider", "must be tables: [[provider]]");
    reader.finish();
    if (providers == nullptr) reader.fail(nullptr, "provider", "is missing: at least one [[provider]]");
    for (auto const& each : *providers->as_array()) {
        auto one = read_provider(*each.as_table(), file, made.providers.size() + 1);
        auto const is_same = [&](auto const& other) { return other.name == one.name; };
        if (std::ranges::any_of(made.providers, is_same))
            reader.fail(&each, "provider", "there is another of the name \"" + one.name + "\"");
        made.providers.push_back(std::move(one));
    }
    return made;
}

config default_config() { return read_config(built_in, "(built in)"); }

} // namespace gateway
