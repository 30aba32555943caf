# SPDX-License-Identifier: BSD-3-Clause
# ambit_hdf5(): HDF5 files, behind the switch AMBIT_HDF5. The library is loaded when it is needed
# (src/io/hdf5_load.c), so nothing is linked:
#   AUTO  looked for at run time (the default)      ON  must be here now      OFF  left out
function(ambit_hdf5)
  set(AMBIT_HDF5 AUTO CACHE STRING "HDF5 files: AUTO, ON or OFF")
  set_property(CACHE AMBIT_HDF5 PROPERTY STRINGS AUTO ON OFF)
  string(TOUPPER "${AMBIT_HDF5}" wish)
  if(NOT wish MATCHES "^(AUTO|ON|OFF)$")
    message(FATAL_ERROR "AMBIT_HDF5 is '${AMBIT_HDF5}'; it must be AUTO, ON or OFF.")
  endif()
  if(wish STREQUAL "OFF")
    message(STATUS "HDF5 files: no (AMBIT_HDF5 is OFF)")
    return()
  endif()

  find_library(AMBIT_HDF5_LIBRARY NAMES hdf5_serial hdf5
    libhdf5_serial.so.320 libhdf5_serial.so.310 libhdf5_serial.so.200 libhdf5_serial.so.103
    libhdf5.so.320 libhdf5.so.310 libhdf5.so.200 libhdf5.so.103
    HINTS ENV HDF5_DIR ENV HDF5_ROOT PATH_SUFFIXES lib lib64)
  mark_as_advanced(AMBIT_HDF5_LIBRARY)
  if(wish STREQUAL "ON" AND NOT AMBIT_HDF5_LIBRARY)
    message(FATAL_ERROR "AMBIT_HDF5=ON, but the HDF5 library was not found. Install it (scripts/setup knows the "
                        "package) or configure with -DAMBIT_HDF5=OFF.")
  endif()
  if(AMBIT_HDF5_LIBRARY)
    message(STATUS "HDF5 files: yes")
  else()
    message(STATUS "HDF5 files: when the library is installed")
  endif()
  list(APPEND AMBIT_DEFINITIONS AMBIT_HAVE_HDF5=1)
  set(AMBIT_DEFINITIONS "${AMBIT_DEFINITIONS}" PARENT_SCOPE)
endfunction()
