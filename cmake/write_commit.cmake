# Run at each build: writes FILE, which defines what src/sim/commit.hpp declares, if the commit is another one now.
find_program(GIT git)
set(commit unknown)
if(GIT)
    execute_process(COMMAND ${GIT} rev-parse --short=12 HEAD WORKING_DIRECTORY ${SOURCE_DIR}
        OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed ERROR_QUIET)
    if(NOT failed)
        set(commit ${found})
    endif()
endif()
file(CONFIGURE OUTPUT ${FILE} CONTENT [[#include "sim/commit.hpp"

namespace pitsaw::inline v0::sim {
extern char const* const commit = "@commit@";
} // namespace pitsaw::inline v0::sim
]] @ONLY)
