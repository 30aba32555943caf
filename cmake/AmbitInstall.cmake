# SPDX-License-Identifier: BSD-3-Clause
# What `cmake --install` puts where: header, library, modules, tool, and the two ways to find them,
# find_package(Ambit) and pkg-config. The installed tree can be moved.
include(CMakePackageConfigHelpers)

set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Ambit)
get_target_property(library_type ambit TYPE)

install(FILES include/ambit.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS ambit_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS ambit EXPORT AmbitTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(AMBIT_MODULES)
  install(TARGETS ${AMBIT_MODULES} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(EXPORT AmbitTargets NAMESPACE Ambit:: DESTINATION ${config_dir})

# A static library hands what it needs on to whoever links it; a shared one keeps it to itself.
set(config_packages "")
set(pc_lines "Libs: -L\${libdir} -lambit")
if(library_type STREQUAL "STATIC_LIBRARY")
  list(JOIN AMBIT_PACKAGES " " config_packages)
  list(JOIN AMBIT_PKGCONFIG " " pc_requires)
  string(APPEND pc_lines " -lm -ldl -lpthread\nRequires: ${pc_requires}")
endif()
configure_package_config_file(cmake/AmbitConfig.cmake.in AmbitConfig.cmake
  INSTALL_DESTINATION ${config_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(AmbitConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/AmbitConfig.cmake ${PROJECT_BINARY_DIR}/AmbitConfigVersion.cmake
        DESTINATION ${config_dir})

string(REGEX REPLACE "[^/]+" ".." pc_up ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
configure_file(cmake/ambit.pc.in ambit.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/ambit.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
