# SPDX-License-Identifier: BSD-3-Clause
# ambit_feature(NAME "what it gives" PACKAGE package TARGET imported::target [PKGCONFIG module])
#
# An optional part of the library, behind a three-way switch AMBIT_<NAME>:
#   AUTO  used when found (the default)      ON  must be found      OFF  left out
# Where it is used, every source sees AMBIT_HAVE_<NAME>=1; else it is not defined. Adds to the lists
# that the library is built and installed with:
#   AMBIT_DEFINITIONS  what sources see          AMBIT_LIBRARIES    what the library links
#   AMBIT_PACKAGES     what find_package(Ambit) must find when the library is static
#   AMBIT_PKGCONFIG    the same for pkg-config
function(ambit_feature name what)
  cmake_parse_arguments(F "" "PACKAGE;TARGET;PKGCONFIG" "" ${ARGN})
  set(AMBIT_${name} AUTO CACHE STRING "${what}: AUTO, ON or OFF")
  set_property(CACHE AMBIT_${name} PROPERTY STRINGS AUTO ON OFF)
  string(TOUPPER "${AMBIT_${name}}" wish)
  if(NOT wish MATCHES "^(AUTO|ON|OFF)$")
    message(FATAL_ERROR "AMBIT_${name} is '${AMBIT_${name}}'; it must be AUTO, ON or OFF.")
  endif()

  set(have OFF)
  if(NOT wish STREQUAL "OFF")
    find_package(${F_PACKAGE} QUIET)
    if(${F_PACKAGE}_FOUND)
      set(have ON)
    elseif(wish STREQUAL "ON")
      message(FATAL_ERROR "AMBIT_${name}=ON, but ${F_PACKAGE} was not found. Install it (scripts/setup "
                          "knows the package) or configure with -DAMBIT_${name}=OFF.")
    endif()
  endif()

  if(have)
    list(APPEND AMBIT_DEFINITIONS AMBIT_HAVE_${name}=1)
    list(APPEND AMBIT_LIBRARIES ${F_TARGET})
    list(APPEND AMBIT_PACKAGES ${F_PACKAGE})
    list(APPEND AMBIT_PKGCONFIG ${F_PKGCONFIG})
    message(STATUS "${what}: yes")
  else()
    message(STATUS "${what}: no (AMBIT_${name} is ${wish})")
  endif()
  foreach(list DEFINITIONS LIBRARIES PACKAGES PKGCONFIG)
    set(AMBIT_${list} "${AMBIT_${list}}" PARENT_SCOPE)
  endforeach()
endfunction()
