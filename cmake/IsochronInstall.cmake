# The targets that gather what the layers declared (test groups, fuzzers), what is installed, and the Debian package.

foreach(label concurrent parser)
  get_property(tests GLOBAL PROPERTY ISOCHRON_TESTS_${label})
  add_custom_target(${label}_tests DEPENDS ${tests})
endforeach()
get_property(fuzzers GLOBAL PROPERTY ISOCHRON_FUZZERS)
add_custom_target(fuzzers DEPENDS ${fuzzers})

# isochron::isochron is the sum of the libraries that a user's code may link. A robot program needs
# isochron::isochron_client alone, which needs nothing else.
set(public isochron_core isochron_rt isochron_flow isochron_journal isochron_link isochron_client isochron_node
    isochron_agents_wire isochron_agents isochron_v2x isochron_flight isochron_world)
add_library(isochron INTERFACE)
target_link_libraries(isochron INTERFACE ${public})
install(TARGETS isochron ${public} EXPORT isochronTargets)
install(EXPORT isochronTargets NAMESPACE isochron:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/isochron)

find_package(Python3 REQUIRED COMPONENTS Interpreter)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/public_headers.txt)
execute_process(COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/public_headers.py ${CMAKE_SOURCE_DIR}
  OUTPUT_VARIABLE headers OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\n" ";" headers "${headers}")
foreach(header IN LISTS headers)
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${header} DESTINATION include/isochron/${folder})
endforeach()

include(CMakePackageConfigHelpers)
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/isochronConfig.cmake.in
  ${CMAKE_BINARY_DIR}/isochronConfig.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/isochron)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/isochronConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/isochronConfig.cmake ${CMAKE_BINARY_DIR}/isochronConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/isochron)

# Examples that the quick start runs: scenarios and sources beside the models, programs and libraries where scenarios
# find them (scenario/find_file.cpp).
set(example_targets predator_controller predator_planner prey_controller ships_controllers nbody_nodes room_nodes stall_nodes)
set_target_properties(${example_targets} PROPERTIES INSTALL_RPATH "$ORIGIN/..")
install(TARGETS ${example_targets} RUNTIME DESTINATION lib/isochron LIBRARY DESTINATION lib/isochron)
install(DIRECTORY examples DESTINATION share/isochron
  PATTERN CMakeLists.txt EXCLUDE PATTERN "*_test.*" EXCLUDE PATTERN __pycache__ EXCLUDE PATTERN runs EXCLUDE
  PATTERN "*.mcap" EXCLUDE)
install(DIRECTORY experiments/predator_prey DESTINATION share/isochron/experiments
  PATTERN CMakeLists.txt EXCLUDE PATTERN __pycache__ EXCLUDE PATTERN runs EXCLUDE PATTERN "*.mcap" EXCLUDE)

# Completion and man page come from the command itself.
set(extras ${CMAKE_BINARY_DIR}/extras)
add_custom_command(OUTPUT ${extras}/isochron.bash ${extras}/_isochron ${extras}/isochron.1
  COMMAND ${CMAKE_COMMAND} -E make_directory ${extras}
  COMMAND $<TARGET_FILE:isochron_command> completion bash > ${extras}/isochron.bash
  COMMAND $<TARGET_FILE:isochron_command> completion zsh > ${extras}/_isochron
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/man_page.py $<TARGET_FILE:isochron_command> > ${extras}/isochron.1
  DEPENDS isochron_command tools/man_page.py COMMENT "Completion and man page" VERBATIM)
install(FILES ${extras}/isochron.bash DESTINATION share/bash-completion/completions RENAME isochron OPTIONAL)
install(FILES ${extras}/_isochron DESTINATION share/zsh/vendor-completions OPTIONAL)
install(FILES ${extras}/isochron.1 DESTINATION share/man/man1 OPTIONAL)
install(FILES LICENSE README.md CHANGELOG.md DESTINATION share/doc/isochron OPTIONAL)

# All that is installed: `cmake --build … --target package_parts`, then `cpack`. See ./dev package.
add_custom_target(package_parts DEPENDS ${extras}/isochron.1 ${public} ${example_targets} isochron_command isochron_clock
  isochron_env isochron_export isochron_fmu isochron_agents_shared isochron_rt_guard)
if(TARGET isochron_sumo)
  add_dependencies(package_parts isochron_sumo)
endif()

option(ISOCHRON_DEBIAN "install as a Debian package does: Python finds the package by itself" OFF)
if(ISOCHRON_DEBIAN)
  install(CODE [[
    set(python "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/lib/python3/dist-packages")
    file(MAKE_DIRECTORY ${python})
    file(CREATE_LINK ../../../share/isochron/python/isochron ${python}/isochron SYMBOLIC)]])
endif()
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME isochron)
set(CPACK_PACKAGE_CONTACT "Isochron maintainers <maintainers@isochron.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR}/lib)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3, python3-numpy")
# What static libraries need that isochron::isochron brings; a robot program needs none of it.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "g++, cmake, libmujoco-dev, libode-dev, libsodium-dev, libssl-dev, libprotobuf-dev, libzstd-dev, liblz4-dev, libxxhash-dev, nlohmann-json3-dev")
set(CPACK_INSTALL_CMAKE_PROJECTS "${CMAKE_BINARY_DIR};isochron;ALL;/")
include(CPack)
