# Run at each build: writes FILE, which defines what src/sim/commit.hpp declares, if the commit is another one now.
# SOURCE_DIR may be a copy within somebody else's repository, whose commit says nothing of this library.
find_program(GIT git)
set(commit unknown)
if(GIT)
    execute_process(COMMAND ${GIT} rev-parse --show-toplevel WORKING_DIRECTORY ${SOURCE_DIR}
        OUTPUT_VARIABLE top OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    file(REAL_PATH "${SOURCE_DIR}" source)
    if(top STREQUAL source)
        execute_process(COMMAND ${GIT} describe --always --dirty --abbrev=12 --exclude *
            WORKING_DIRECTORY ${SOURCE_DIR}
            OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed ERROR_QUIET)
        if(NOT failed)
            set(commit ${found})
        endif()
    endif()
endif()
file(CONFIGURE OUTPUT ${FILE} CONTENT [[#include "sim/commit.hpp"

namespace pitsaw::inline v0::sim {
extern char const* const commit = "@commit@";
} // namespace pitsaw::inline v0::sim
]] @ONLY)
