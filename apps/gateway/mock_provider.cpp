#include "gateway/provider.hpp"

#include <pitsaw/time/sleep.hpp>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <string>
#include <utility>

namespace gateway {
namespace {

namespace http = pitsaw::http;
namespace json = boost::json;

constexpr std::array<std::string_view, 16> words{"A ",      "pit ", "saw ",    "is ",    "worked ", "by ",
                                                 "two: ",   "one ", "pushes ", "while ", "the ",    "other ",
                                                 "pulls, ", "one ", "blade ",  "cuts. "};

/// Says the same as another of the same prompt, so that tests can count on it: some four bytes a token.
std::uint64_t prompt_tokens(upstream_call const& call) { return (call.body.size() + 3) / 4; }

json::object usage_of(std::uint64_t prompt, std::uint64_t completion) {
    return {
        {"prompt_tokens", prompt}, {"completion_tokens", completion}, {"total_tokens", prompt + completion}};
}

/// What one call asks of the mock.
struct script {
    bool is_chat;
    bool is_cut; // by the client's limit
    bool wants_usage;
    std::uint64_t tokens, prompt;
    std::string model;

    [[nodiscard]] json::object envelope(std::string_view object) const {
        return {{"id", is_chat ? "chatcmpl-mock" : "cmpl-mock"},
                {"object", object},
                {"created", 0},
                {"model", model}};
    }
    [[nodiscard]] json::value finish_reason() const { return is_cut ? "length" : "stop"; }

    /// An event of the stream with this text, or the one that says why it ends.
    [[nodiscard]] std::string event(std::string_view text, bool is_first, bool is_last) const {
        json::object choice{{"index", 0}, {"finish_reason", is_last ? finish_reason() : json::value()}};
        if (is_chat) {
            json::object delta;
            if (is_first) delta["role"] = "assistant";
            if (!is_last) delta["content"] = text;
            choice["delta"] = std::move(delta);
        } else {
            choice["text"] = text;
        }
        auto made = envelope(is_chat ? "chat.completion.chunk" : "text_completion");
        made["choices"] = json::array{std::move(choice)};
        return "data: " + json::serialize(made) + "\n\n";
    }
    [[nodiscard]] std::string end() const {
        auto made = event("", false, true);
        if (wants_usage) {
            auto last = envelope(is_chat ? "chat.completion.chunk" : "text_completion");
            last["choices"] = json::array();
            last["usage"] = usage_of(prompt, tokens);
            made += "data: " + json::serialize(last) + "\n\n";
        }
        return made + "data: [DONE]\n\n";
    }
    [[nodiscard]] std::string whole() const {
        std::string text;
        for (std::uint64_t i = 0; i < tokens; ++i) text += words[i % words.size()];
        json::object choice{{"index", 0}, {"finish_reason", finish_reason()}};
        if (is_chat)
            choice["message"] = json::object{{"role", "assistant"}, {"content", text}};
        else
            choice["text"] = text;
        auto made = envelope(is_chat ? "chat.completion" : "text_completion");
        made["choices"] = json::array{std::move(choice)};
        made["usage"] = usage_of(prompt, tokens);
        return json::serialize(made);
    }
};

/// Tokens at a pace.
class mock_stream final : public http::body_source {
  public:
    mock_stream(script of, provider_config const& how) : script_(std::move(of)), how_(how) {}

    pitsaw::task<pitsaw::io_result<std::span<std::byte const>>> read() override {
        using result = pitsaw::io_result<std::span<std::byte const>>;
        if (next_ > script_.tokens) co_return result();
        co_await pitsaw::sleep(next_ == 0 ? how_.first_token_after : pace(how_));
        auto const i = next_++;
        piece_ = i < script_.tokens ? script_.event(words[i % words.size()], i == 0, false) : script_.end();
        co_return result(std::as_bytes(std::span(piece_)));
    }

    [[nodiscard]] static pitsaw::duration pace(provider_config const& how) {
        return std::chrono::duration_cast<pitsaw::duration>(
            std::chrono::duration<double>(1 / how.tokens_per_second));
    }

  private:
    script script_;
    provider_config const& how_;
    std::uint64_t next_ = 0;
    std::string piece_;
};

/// A text that is there.
class text_source final : public http::body_source {
  public:
    explicit text_source(std::string text) : text_(std::move(text)) {}

    pitsaw::task<pitsaw::io_result<std::span<std::byte const>>> read() override {
        auto const left = std::exchange(left_, {});
        co_return pitsaw::io_result<std::span<std::byte const>>(std::as_bytes(std::span(left)));
    }

  private:
    std::string text_;
    std::string_view left_ = text_;
};

upstream_answer answer(std::string_view type, std::unique_ptr<http::body_source> body) {
    upstream_answer made;
    made.status = 200;
    made.is_event_stream = type == "text/event-stream";
    made.headers.add("Content-Type", type);
    made.body = std::move(body);
    return made;
}

std::string base64(std::string_view bytes) {
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string made;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        auto const group = bytes.substr(i, 3);
        unsigned bits = 0;
        for (std::size_t j = 0; j < 3; ++j)
            bits = bits << 8 | (j < group.size() ? static_cast<unsigned char>(group[j]) : 0U);
        for (std::size_t j = 0; j < 4; ++j)
            made += j <= group.size() ? digits[bits >> (18 - 6 * j) & 63] : '=';
    }
    return made;
}

/// Eight numbers between -1 and 1 that depend on the text alone.
json::value embedding(std::string_view text, bool is_base64) {
    std::array<float, 8> numbers{};
    std::uint32_t mixed = 2'166'136'261; // FNV-1a
    for (auto& number : numbers) {
        for (char const c : text) mixed = (mixed ^ static_cast<unsigned char>(c)) * 16'777'619;
        mixed = (mixed ^ 1) * 16'777'619;
        number = static_cast<float>(mixed >> 8) / static_cast<float>(1 << 23) - 1;
    }
    static_assert(std::endian::native == std::endian::little, "floats travel as little-endian bytes");
    if (is_base64)
        return json::value(base64({reinterpret_cast<char const*>(numbers.data()), sizeof numbers}));
    return json::array(numbers.begin(), numbers.end());
}

/// A body of that size has at most as many inputs as the API allows.
constexpr std::size_t embeddings_bytes_max = 64 << 10;

std::string embeddings(upstream_call const& call, std::string_view body) {
    boost::system::error_code error;
    auto const parsed = json::parse(body, error);
    auto const* const asked = error ? nullptr : parsed.if_object();
    json::array inputs;
    bool is_base64 = false;
    if (asked != nullptr) {
        if (auto const* const input = asked->if_contains("input"))
            inputs = input->is_array() ? input->get_array() : json::array{*input};
        auto const* const format = asked->if_contains("encoding_format");
        is_base64 = format != nullptr && *format == "base64";
    }
    json::array data;
    for (std::size_t i = 0; i < inputs.size(); ++i)
        data.push_back(json::object{{"object", "embedding"},
                                    {"index", i},
                                    {"embedding", embedding(json::serialize(inputs[i]), is_base64)}});
    auto const tokens = prompt_tokens(call);
    return json::serialize(
        json::object{{"object", "list"},
                     {"data", std::move(data)},
                     {"model", call.facts.model},
                     {"usage", json::object{{"prompt_tokens", tokens}, {"total_tokens", tokens}}}});
}

constexpr char too_many[] = R"({"error":{"message":"the mock embeds at most 64 KiB at a time",)"
                            R"("type":"invalid_request_error","param":"input","code":null}})";

class mock_provider final : public provider {
  public:
    using provider::provider;

    pitsaw::task<pitsaw::io_result<upstream_answer>> call(upstream_call const& what) override {
        using result = pitsaw::io_result<upstream_answer>;
        if (what.path == "/embeddings") {
            co_await pitsaw::sleep(config.first_token_after);
            auto const body = what.body.in_memory();
            if (what.body.size() > std::min(body.size(), embeddings_bytes_max)) {
                auto made = answer("application/json", std::make_unique<text_source>(too_many));
                made.status = 400;
                co_return result(std::move(made));
            }
            co_return result(
                answer("application/json", std::make_unique<text_source>(embeddings(what, body))));
        }
        auto const asked = what.facts.tokens_max == 0 ? config.tokens : what.facts.tokens_max;
        script made{.is_chat = what.path == "/chat/completions",
                    .is_cut = asked < config.tokens,
                    .wants_usage = what.facts.wants_usage,
                    .tokens = std::min<std::uint64_t>(asked, config.tokens),
                    .prompt = prompt_tokens(what),
                    .model = what.facts.model};
        if (what.facts.is_stream)
            co_return result(
                answer("text/event-stream", std::make_unique<mock_stream>(std::move(made), config)));
        co_await pitsaw::sleep(config.first_token_after +
                               mock_stream::pace(config) * static_cast<std::int64_t>(made.tokens));
        co_return result(answer("application/json", std::make_unique<text_source>(made.whole())));
    }
};

} // namespace

std::unique_ptr<provider> make_mock_provider(provider_config const& how) {
    return std::make_unique<mock_provider>(how);
}

} // namespace gateway
