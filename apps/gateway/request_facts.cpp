#include "gateway/request_facts.hpp"

namespace gateway {

request_scan::request_scan() : scalars_([this](auto path, auto const& value) { note(path, value); }) {}

void request_scan::note(std::string_view const path, json_scalar const& value) {
    if (path == "model") {
        // Whoever reads the second would be asked for another model than was allowed here.
        if (has_model_) facts_.wrong = "the request names a model twice";
        has_model_ = true;
        bool const is_name = value.what == json_scalar::kind::text && !value.is_cut && !value.text.empty();
        if (is_name)
            facts_.model = value.text;
        else
            facts_.wrong = "'model' must be a text of 1 to 256 bytes";
    } else if (path == "stream") {
        facts_.is_stream = value.boolean;
    } else if (path == "stream_options.include_usage") {
        facts_.wants_usage = value.boolean;
    } else if (path == "max_tokens" || path == "max_completion_tokens") {
        facts_.tokens_max = value.number;
    }
}

request_facts const& request_scan::finish() {
    if (!scalars_.finish())
        facts_.wrong = "the request's body is not a JSON object";
    else if (!has_model_)
        facts_.wrong = "the request names no model: it needs a text 'model'";
    return facts_;
}

} // namespace gateway
