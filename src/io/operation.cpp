#include <pitsaw/io/operation.hpp>

namespace pitsaw::inline v0 {

auto name(op_code code) noexcept -> std::string_view {
    switch (code) {
    case op_code::nop:
        return "nop";
    case op_code::receive:
        return "receive";
    case op_code::send:
        return "send";
    case op_code::watch:
        return "watch";
    case op_code::accept:
        return "accept";
    case op_code::connect:
        return "connect";
    case op_code::shutdown:
        return "shutdown";
    case op_code::close:
        return "close";
    }
    return "an operation code out of range";
}

} // namespace pitsaw::inline v0
