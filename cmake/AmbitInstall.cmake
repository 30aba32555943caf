# SPDX-License-Identifier: BSD-3-Clause
# What `cmake --install` puts where, in four components (`cmake --install build --component dev`):
#   runtime  the shared library, and its modules for MPI
#   dev      header, static library, and the two ways to find them: find_package(Ambit) and pkg-config
#   tools    ambit, ambit-port, their man pages and completion
#   doc      the documents and the examples
# The installed tree can be moved.
include(CMakePackageConfigHelpers)

set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Ambit)
get_target_property(library_type ambit TYPE)

# ---- runtime and dev ----

install(TARGETS ambit EXPORT AmbitTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT dev
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(AMBIT_MODULES)
  install(TARGETS ${AMBIT_MODULES} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/ambit COMPONENT runtime)
endif()
install(FILES include/ambit.h include/ambit_compiled.h include/ambit_stream.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
install(EXPORT AmbitTargets NAMESPACE Ambit:: DESTINATION ${config_dir} COMPONENT dev)
if(AMBIT_STATIC)
  install(TARGETS ambit_static EXPORT AmbitStaticTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT AmbitStaticTargets NAMESPACE Ambit:: DESTINATION ${config_dir} COMPONENT dev)
endif()

# The Python package carries the library and its modules. (For Ninja, `ambit` is the file of the tool.)
if(SKBUILD)
  add_custom_target(ambit_python)
  add_dependencies(ambit_python ambit)
  install(TARGETS ambit ${AMBIT_MODULES} LIBRARY DESTINATION . COMPONENT python)
endif()

# Programs that link the static library link its libraries too; the shared one keeps them to itself.
set(config_packages "")
list(JOIN AMBIT_PACKAGES " " config_static_packages)
list(JOIN AMBIT_PKGCONFIG " " pc_requires)
set(pc_private ".private")
set(pc_libs "Libs: -L\${libdir} -lambit\nLibs.private: -lm -ldl -lpthread")
if(library_type STREQUAL "STATIC_LIBRARY")
  set(config_packages ${config_static_packages})
  set(pc_private "")
  set(pc_libs "Libs: -L\${libdir} -lambit -lm -ldl -lpthread")
endif()
configure_package_config_file(cmake/AmbitConfig.cmake.in AmbitConfig.cmake
  INSTALL_DESTINATION ${config_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(AmbitConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/AmbitConfig.cmake ${PROJECT_BINARY_DIR}/AmbitConfigVersion.cmake
        DESTINATION ${config_dir} COMPONENT dev)

string(REGEX REPLACE "[^/]+" ".." pc_up ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
configure_file(cmake/ambit.pc.in ambit.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/ambit.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)

# ---- tools ----

install(TARGETS ambit_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
if(TARGET ambit_port)
  install(TARGETS ambit_port RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
endif()
if(NOT CMAKE_CROSSCOMPILING AND NOT AMBIT_SANITIZE)
  set(pages ${PROJECT_BINARY_DIR}/pages)
  add_custom_command(OUTPUT ${pages}/made DEPENDS ambit_tool cmake/AmbitPages.cmake
    COMMAND ${CMAKE_COMMAND} -DTOOL=$<TARGET_FILE:ambit_tool> -DOUTPUT=${pages} -P ${PROJECT_SOURCE_DIR}/cmake/AmbitPages.cmake
    COMMENT "Making man pages and completion" VERBATIM)
  add_custom_target(ambit_pages ALL DEPENDS ${pages}/made)
  install(DIRECTORY ${pages}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tools)
  install(DIRECTORY ${pages}/bash/ DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT tools)
  install(DIRECTORY ${pages}/zsh/ DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT tools)
endif()

# ---- doc ----

install(FILES README.md CHANGELOG.md ARCHITECTURE.md CONTRIBUTING.md SECURITY.md CITATION.cff
        DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT doc)
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT doc PATTERN docs/site EXCLUDE)

# What to build before an installation, without the tests.
add_custom_target(ambit_installable DEPENDS ambit ambit_tool)
foreach(target ambit_static ambit_port ambit_pages ${AMBIT_MODULES})
  if(TARGET ${target})
    add_dependencies(ambit_installable ${target})
  endif()
endforeach()
