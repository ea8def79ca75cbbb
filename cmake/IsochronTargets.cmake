# How every part of Isochron is built: flags, libraries of a layer, their tests, benchmarks and fuzzers.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g1")

set(ISOCHRON_SANITIZE "" CACHE STRING "sanitizers to build with, as for -fsanitize=")
option(ISOCHRON_FUZZ "build the fuzzers (clang)" OFF)

add_library(isochron_flags INTERFACE)
target_compile_options(isochron_flags INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wno-missing-field-initializers -Werror
  -ffp-contract=off)  # a fused multiply-add would change bits between machines
target_include_directories(isochron_flags INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}>)
if(ISOCHRON_SANITIZE)
  target_compile_options(isochron_flags INTERFACE -fsanitize=${ISOCHRON_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(isochron_flags INTERFACE -fsanitize=${ISOCHRON_SANITIZE})
  # GCC's flow analysis misreads instrumented code, in Boost and in its own library: the release build is the judge.
  target_compile_options(isochron_flags INTERFACE -Wno-error)
  if(ISOCHRON_SANITIZE MATCHES thread AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(isochron_flags INTERFACE -Wno-tsan)
  endif()
endif()
if(ISOCHRON_FUZZ)
  target_compile_options(isochron_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(NOT ISOCHRON_SANITIZE)
  # Hardening. Not FORTIFY where we stand in for the C library ourselves: its headers would put other names there.
  include(CheckPIESupported)
  check_pie_supported()
  target_compile_options(isochron_flags INTERFACE -fstack-protector-strong
    $<$<AND:$<NOT:$<CONFIG:Debug>>,$<NOT:$<BOOL:$<TARGET_PROPERTY:ISOCHRON_INTERPOSES>>>>:-U_FORTIFY_SOURCE>
    $<$<AND:$<NOT:$<CONFIG:Debug>>,$<NOT:$<BOOL:$<TARGET_PROPERTY:ISOCHRON_INTERPOSES>>>>:-D_FORTIFY_SOURCE=2>)
  target_link_options(isochron_flags INTERFACE LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack)
endif()

find_program(ISOCHRON_CCACHE ccache)
if(ISOCHRON_CCACHE)
  # Precompiled headers and other folders of the same sources are hits only so.
  set(launcher env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros
      ${ISOCHRON_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()

find_package(Threads REQUIRED)
include(GoogleTest)

# isochron_layer(NAME SOURCES ... LINKS ...): the library isochron_NAME of one layer.
# Without sources it is a header library.
function(isochron_layer name)
  cmake_parse_arguments(A "" "" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
  set(target isochron_${name})
  if(A_SOURCES)
    add_library(${target} STATIC ${A_SOURCES})
    target_link_libraries(${target} PUBLIC ${A_LINKS} PRIVATE $<BUILD_INTERFACE:isochron_flags> ${A_PRIVATE_LINKS})
    set(scope PUBLIC)
  else()
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE ${A_LINKS})
    set(scope INTERFACE)
  endif()
  target_include_directories(${target} ${scope}
    $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}> $<INSTALL_INTERFACE:include> $<INSTALL_INTERFACE:include/isochron>)
  target_compile_features(${target} ${scope} cxx_std_20)
endfunction()

# isochron_test(NAME SOURCES ... LINKS ... LABELS ...): one gtest executable, each test of it known to ctest.
# The label `concurrent` runs it again under ThreadSanitizer, `parser` under AddressSanitizer (see ./dev test).
function(isochron_test name)
  cmake_parse_arguments(A "" "TIMEOUT" "SOURCES;LINKS;LABELS" ${ARGN})
  if(NOT BUILD_TESTING)
    return()
  endif()
  if(NOT A_TIMEOUT)
    set(A_TIMEOUT 120)
  endif()
  add_executable(${name} ${A_SOURCES})
  target_link_libraries(${name} PRIVATE isochron_flags ${A_LINKS} GTest::gtest GTest::gmock GTest::gtest_main Threads::Threads)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test)
  list(JOIN A_LABELS "+" labels)  # one label, since ctest -L matches a part of it
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT ${A_TIMEOUT} LABELS "${labels}")
  foreach(label IN LISTS A_LABELS)
    set_property(GLOBAL APPEND PROPERTY ISOCHRON_TESTS_${label} ${name})
  endforeach()
endfunction()

# isochron_fuzz(NAME SOURCES ... LINKS ...): one libFuzzer executable; ./dev fuzz runs them all.
function(isochron_fuzz name)
  cmake_parse_arguments(A "" "" "SOURCES;LINKS" ${ARGN})
  if(NOT ISOCHRON_FUZZ)
    return()
  endif()
  add_executable(${name} ${A_SOURCES})
  target_link_libraries(${name} PRIVATE isochron_flags ${A_LINKS} Threads::Threads)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
  set_property(GLOBAL APPEND PROPERTY ISOCHRON_FUZZERS ${name})
endfunction()
