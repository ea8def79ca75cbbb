# The targets that gather what the layers declared: test groups, fuzzers, and the installed package.

foreach(label concurrent parser)
  get_property(tests GLOBAL PROPERTY ISOCHRON_TESTS_${label})
  add_custom_target(${label}_tests DEPENDS ${tests})
endforeach()
get_property(fuzzers GLOBAL PROPERTY ISOCHRON_FUZZERS)
add_custom_target(fuzzers DEPENDS ${fuzzers})

# isochron::isochron is the sum of the layers that a user's code may include.
get_property(layers GLOBAL PROPERTY ISOCHRON_INSTALLED)
add_library(isochron INTERFACE)
target_link_libraries(isochron INTERFACE ${layers})
install(TARGETS isochron ${layers} EXPORT isochronTargets)
install(EXPORT isochronTargets NAMESPACE isochron:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/isochron)
foreach(layer IN LISTS ISOCHRON_LAYERS)
  if(EXISTS ${CMAKE_SOURCE_DIR}/${layer} AND NOT layer MATCHES "^(apps|testing|bench)$")
    install(DIRECTORY ${layer} DESTINATION include/isochron FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h"
            PATTERN test EXCLUDE PATTERN bench EXCLUDE PATTERN fuzz EXCLUDE)
  endif()
endforeach()

include(CMakePackageConfigHelpers)
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/isochronConfig.cmake.in
  ${CMAKE_BINARY_DIR}/isochronConfig.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/isochron)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/isochronConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/isochronConfig.cmake ${CMAKE_BINARY_DIR}/isochronConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/isochron)
