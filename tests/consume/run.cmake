# Builds tests/consume/main.cpp in one `way` and runs it. Called by ctest; see CMakeLists.txt for the variables.
function(run)
    execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY COMMAND_ECHO STDOUT)
endfunction()

file(REMOVE_RECURSE ${build})
file(MAKE_DIRECTORY ${build})
if(way STREQUAL pkg_config)
    find_program(pkg_config NAMES pkg-config pkgconf REQUIRED)
    file(GLOB_RECURSE pc ${prefix}/*/pitsaw.pc)
    get_filename_component(folder ${pc} DIRECTORY)
    set(ENV{PKG_CONFIG_PATH} ${folder})
    execute_process(COMMAND ${pkg_config} --cflags --libs pitsaw
        OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    separate_arguments(flags)
    run(${compiler} -std=c++23 ${here}/main.cpp -o ${build}/consumer ${flags})
else()
    run(${CMAKE_COMMAND} -S ${here}/project -B ${build} -G Ninja -D WAY=${way} -D PITSAW=${pitsaw}
        -D CMAKE_PREFIX_PATH=${prefix} -D CMAKE_CXX_COMPILER=${compiler} -D CMAKE_CXX_COMPILER_LAUNCHER=${launcher}
        # Nothing but the installed tree may answer, not a pitsaw that this machine happens to have.
        -D CMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF -D CMAKE_FIND_USE_PACKAGE_REGISTRY=OFF)
    run(${CMAKE_COMMAND} --build ${build} --target consumer -j 2)
endif()
run(${build}/consumer)
