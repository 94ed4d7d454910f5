#pragma once
#include <pitsaw/pitsaw.hpp>
#include <pitsaw/sim/book.hpp>
#include <pitsaw/sim/world.hpp>

#include <chrono>
#include <string>

/// Every public awaitable in a body of its own, for harnesses that disturb it at each of its moments.
namespace pitsaw::testing::subjects {

using namespace std::chrono_literals;

using result = task<io_result<void>>;

/// What a body has to do with: its world, and the books that must balance after each run.
struct surroundings {
    sim::world* world = nullptr;
    sim::book values{"values"}; ///< constructors and destructors
    sim::book bytes{"bytes"};   ///< sent, and then received or left in the stream
    bool is_whole = false;      ///< the body came to its end, without an error
};

struct subject {
    char const* name;
    result (*body)(surroundings&);
};

using counted_text = sim::counted<std::string>;

} // namespace pitsaw::testing::subjects
