// Boost.JSON itself, in this program: a binary that needs no library of the machine.
#include <boost/json/src.hpp>
