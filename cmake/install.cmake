# What `cmake --install` writes: libraries, headers, a CMake package and pkg-config files. tests/consume uses each.
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/pitsaw)
install(TARGETS ${installed_targets} EXPORT pitsaw-targets)
install(TARGETS pitsaw_sim_allocations EXPORT pitsaw-targets OBJECTS DESTINATION ${CMAKE_INSTALL_LIBDIR}/pitsaw)
install(DIRECTORY include/pitsaw DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT pitsaw-targets NAMESPACE pitsaw:: DESTINATION ${package_folder})

configure_package_config_file(cmake/package.cmake.in ${PROJECT_BINARY_DIR}/pitsaw-config.cmake
    INSTALL_DESTINATION ${package_folder})
# Below 1.0 a minor version may change the interface, so 0.2 does not satisfy who asked for 0.1.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/pitsaw-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/pitsaw-config.cmake ${PROJECT_BINARY_DIR}/pitsaw-config-version.cmake
    DESTINATION ${package_folder})

# The prefix is found from where the .pc file lies, so that an installed tree may be moved.
file(RELATIVE_PATH prefix_from_pc
    ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" prefix_from_pc "${prefix_from_pc}")
foreach(target IN LISTS installed_targets)
    string(REPLACE pitsaw_ "" part ${target})
    if(part STREQUAL core)
        set(pc_name pitsaw)
        set(pc_requires "")
    else()
        set(pc_name pitsaw-${part})
        set(pc_requires pitsaw)
    endif()
    configure_file(cmake/pkgconfig.pc.in ${PROJECT_BINARY_DIR}/${pc_name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${pc_name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
