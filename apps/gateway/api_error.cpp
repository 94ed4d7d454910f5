#include "gateway/api_error.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

namespace gateway {

pitsaw::http::response to_response(api_error const& error) {
    namespace json = boost::json;
    json::object what{
        {"message", error.message}, {"type", error.type}, {"param", nullptr}, {"code", nullptr}};
    if (!error.code.empty()) what["code"] = error.code;
    return pitsaw::http::response(error.status, "application/json",
                                  json::serialize(json::object{{"error", std::move(what)}}));
}

} // namespace gateway
