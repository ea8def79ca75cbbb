# Parts that need a library which not everybody has. Each is found or left out, with a word when the build is configured;
# ISOCHRON_WITH_<PART> may be AUTO, ON (its absence is an error) or OFF. The command knows what its build has
# (core/build_parts.hpp): `isochron --version` lists it, and scenarios that need what is missing are refused with the
# packages to install.

set_property(GLOBAL PROPERTY ISOCHRON_PARTS "")  # rows of core/build_parts.cpp

# isochron_part(DDS "DDS" "flows over DDS, nodes of ROS 2" "cyclonedds-dev" FOUND): sets ISOCHRON_HAS_DDS.
function(isochron_part key name gives packages found)
  set(ISOCHRON_WITH_${key} AUTO CACHE STRING "${gives}: AUTO, ON or OFF")
  set_property(CACHE ISOCHRON_WITH_${key} PROPERTY STRINGS AUTO ON OFF)
  set(has OFF)
  if(ISOCHRON_WITH_${key} STREQUAL AUTO)
    if(found)
      set(has ON)
    else()
      message(STATUS "left out: ${name} (${gives}); Debian: ${packages}")
    endif()
  elseif(ISOCHRON_WITH_${key})
    if(NOT found)
      message(FATAL_ERROR "${name} is not installed (Debian: ${packages}), and ISOCHRON_WITH_${key} is ON")
    endif()
    set(has ON)
  else()
    message(STATUS "left out: ${name} (${gives}), as ISOCHRON_WITH_${key} says")
  endif()
  set(ISOCHRON_HAS_${key} ${has} PARENT_SCOPE)
  set_property(GLOBAL APPEND_STRING PROPERTY ISOCHRON_PARTS
    "{\"${name}\", $<IF:$<BOOL:${has}>,true,false>, \"${gives}\", \"${packages}\"},\n")
endfunction()

# Tests come first: include(CTest) reads BUILD_TESTING.
option(BUILD_TESTING "build the tests" ON)
if(BUILD_TESTING)
  find_package(GTest QUIET)
  if(NOT GTest_FOUND)
    message(STATUS "left out: tests; Debian: libgtest-dev libgmock-dev")
    set(BUILD_TESTING OFF)
  endif()
endif()

find_library(ROSCPP_LIBRARY roscpp)
isochron_part(ROS1 "ROS 1" "flows over ROS 1, nodes of ROS 1"
  "libroscpp-dev libstd-msgs-dev libgeometry-msgs-dev libsensor-msgs-dev libnav-msgs-dev libstd-srvs-dev libtf2-msgs-dev"
  "${ROSCPP_LIBRARY}")

find_package(CycloneDDS QUIET)
find_program(ISOCHRON_IDLC idlc)
if(CycloneDDS_FOUND AND ISOCHRON_IDLC)
  set(dds_found ON)
else()
  set(dds_found OFF)
endif()
isochron_part(DDS "DDS" "flows over DDS, nodes of ROS 2" "cyclonedds-dev cyclonedds-tools" ${dds_found})

find_package(OpenSSL QUIET COMPONENTS Crypto)
isochron_part(OPENSSL "OpenSSL" "signed V2X messages (IEEE 1609.2)" "libssl-dev" "${OpenSSL_FOUND}")

find_library(ISOCHRON_SUNDIALS_cvode sundials_cvode)
isochron_part(CVODE "CVODE" "a solver for FMUs that bring none" "libsundials-dev" "${ISOCHRON_SUNDIALS_cvode}")

find_path(ISOCHRON_SUMO_INCLUDE libsumo/libsumo.h)
find_library(ISOCHRON_SUMO_LIBRARY sumocpp)
if(ISOCHRON_SUMO_INCLUDE AND ISOCHRON_SUMO_LIBRARY)
  set(sumo_found ON)
else()
  set(sumo_found OFF)
endif()
isochron_part(SUMO "SUMO" "traffic of SUMO" "sumo" ${sumo_found})

find_path(OPENCV_INCLUDE opencv2/video/tracking.hpp PATH_SUFFIXES opencv4)
find_library(OPENCV_CORE opencv_core)
find_library(OPENCV_IMGPROC opencv_imgproc)
find_library(OPENCV_VIDEO opencv_video)
if(OPENCV_INCLUDE AND OPENCV_VIDEO AND OPENCV_IMGPROC)
  set(opencv_found ON)
else()
  set(opencv_found OFF)
endif()
isochron_part(OPENCV "OpenCV" "the vision tasks of experiments/uav_tasks" "libopencv-video-dev libopencv-imgproc-dev"
  ${opencv_found})

find_package(Eigen3 QUIET)
isochron_part(EIGEN "Eigen" "the humanoid of experiments/atlas" "libeigen3-dev" "${Eigen3_FOUND}")

find_package(ompl QUIET)
isochron_part(OMPL "OMPL" "the planner of examples/unmodified" "libompl-dev" "${ompl_FOUND}")

option(ISOCHRON_BENCH "link the benchmarks into the command: `isochron bench`" ON)

get_property(parts GLOBAL PROPERTY ISOCHRON_PARTS)
file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/parts/build_parts.inc CONTENT "${parts}")
