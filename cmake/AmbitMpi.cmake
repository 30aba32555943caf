# SPDX-License-Identifier: BSD-3-Clause
# ambit_mpi(source.c...) builds the module that talks MPI, libambit-<family>.so, once for each family of MPI found: openmpi,
# and mpich with those that keep its ABI. Only the modules know of MPI; the library loads one when a run needs it.
#
#   AMBIT_MPI            AUTO  those that are found (the default)      ON  at least one      OFF  none
#   AMBIT_MPI_COMPILERS  compiler wrappers to look at, best first; the first of each family is taken
#   AMBIT_MPI_FAMILIES   set by this: what was found; AMBIT_MPICC_<family> and AMBIT_MPIRUN_<family> are the compiler wrapper
#                        and the mpirun of each
set(AMBIT_MPI AUTO CACHE STRING "several processes, with MPI: AUTO, ON or OFF")
set_property(CACHE AMBIT_MPI PROPERTY STRINGS AUTO ON OFF)
set(AMBIT_MPI_COMPILERS mpicc mpicc.openmpi mpicc.mpich CACHE STRING "MPI compiler wrappers, best first")

# The family of MPI that a compiler has, and the words it adds to a command line; "" if it has none that will do.
function(ambit_mpi_look compiler family_var flags_var)
  set(probe ${PROJECT_BINARY_DIR}/mpi_probe.c)
  file(WRITE ${probe} "#include <mpi.h>
#if MPI_VERSION < 3
ambit_family too_old
#elif defined OPEN_MPI
ambit_family openmpi
#elif defined MPICH_VERSION || defined MPICH_NUMVERSION || defined I_MPI_VERSION
ambit_family mpich
#endif\n")
  set(family "")
  execute_process(COMMAND ${compiler} -E ${probe} OUTPUT_VARIABLE text ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed AND text MATCHES "ambit_family (openmpi|mpich)")
    set(family ${CMAKE_MATCH_1})
  endif()
  set(flags "")
  if(NOT compiler STREQUAL CMAKE_C_COMPILER) # a wrapper: what it would add
    execute_process(COMMAND ${compiler} -show OUTPUT_VARIABLE flags ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    string(REGEX REPLACE "^[^ ]+(.*)" "\\1" flags "${flags}")
  endif()
  set(${family_var} "${family}" PARENT_SCOPE)
  set(${flags_var} "${flags}" PARENT_SCOPE)
endfunction()

function(ambit_mpi_module family flags)
  separate_arguments(words UNIX_COMMAND "${flags}")
  set(folders ${words})
  list(FILTER folders INCLUDE REGEX "^-I.")
  list(TRANSFORM folders REPLACE "^-I" "")
  list(FILTER words EXCLUDE REGEX "^-I.")
  list(JOIN words " " rest)

  add_library(ambit_uses_${family} INTERFACE) # what to compile and link an MPI program with
  target_include_directories(ambit_uses_${family} SYSTEM INTERFACE ${folders})
  target_link_libraries(ambit_uses_${family} INTERFACE "${rest}")

  add_library(ambit_${family} MODULE ${ARGN})
  set_target_properties(ambit_${family} PROPERTIES PREFIX lib SUFFIX .so OUTPUT_NAME ambit-${family})
  # What it needs of the library it has for itself, and shows none of it.
  target_link_libraries(ambit_${family} PRIVATE ambit_internal "-Wl,--exclude-libs,ALL" ambit_uses_${family})
endfunction()

# Does the mpirun of a family start two processes that see each other? Some packages' do not. Looked at once per build folder.
function(ambit_mpi_try family environment)
  if(DEFINED AMBIT_MPI_WORKS_${family})
    return()
  endif()
  set(probe ${PROJECT_BINARY_DIR}/mpi_two_${family})
  file(WRITE ${probe}.c "#include <mpi.h>
int main(int argc, char **argv)
{
  int n = 0, all = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  MPI_Allreduce(&n, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all != 4;
}\n")
  execute_process(COMMAND ${AMBIT_MPICC_${family}} ${probe}.c -o ${probe} RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
  if(NOT failed)
    execute_process(COMMAND ${CMAKE_COMMAND} -E env ${environment} ${AMBIT_MPIRUN_${family}} -n 2 ${probe}
                    RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET TIMEOUT 60)
  endif()
  if(failed)
    set(works OFF)
    message(STATUS "MPI: '${AMBIT_MPIRUN_${family}} -n 2' gives no two processes that see each other: it is not tested with")
  else()
    set(works ON)
  endif()
  set(AMBIT_MPI_WORKS_${family} ${works} CACHE INTERNAL "two processes of ${family} see each other")
endfunction()

macro(ambit_mpi)
  string(TOUPPER "${AMBIT_MPI}" wish)
  if(NOT wish MATCHES "^(AUTO|ON|OFF)$")
    message(FATAL_ERROR "AMBIT_MPI is '${AMBIT_MPI}'; it must be AUTO, ON or OFF.")
  endif()
  set(AMBIT_MPI_FAMILIES "")
  if(NOT wish STREQUAL "OFF")
    foreach(name ${MPI_C_COMPILER} ${AMBIT_MPI_COMPILERS} ${CMAKE_C_COMPILER})
      find_program(wrapper ${name} NO_CACHE)
      if(wrapper)
        ambit_mpi_look(${wrapper} family flags)
        if(family AND NOT family IN_LIST AMBIT_MPI_FAMILIES)
          ambit_mpi_module(${family} "${flags}" ${ARGN})
          list(APPEND AMBIT_MPI_FAMILIES ${family})
          set(AMBIT_MPICC_${family} ${wrapper})
          get_filename_component(folder ${wrapper} DIRECTORY)
          find_program(AMBIT_MPIRUN_${family} NAMES mpirun.${family} mpiexec.${family} mpirun mpiexec HINTS ${folder})
          message(STATUS "MPI: ${family} (${wrapper})")
        endif()
      endif()
      unset(wrapper)
    endforeach()
  endif()
  if(NOT AMBIT_MPI_FAMILIES)
    if(wish STREQUAL "ON")
      message(FATAL_ERROR "AMBIT_MPI=ON, but none of '${AMBIT_MPI_COMPILERS}' is a compiler with Open MPI or MPICH, "
                          "version 3 of MPI or newer. Install one (scripts/setup mpi does), name its wrapper in "
                          "AMBIT_MPI_COMPILERS, or configure with -DAMBIT_MPI=OFF.")
    endif()
    message(STATUS "MPI: no (AMBIT_MPI is ${wish})")
  endif()
endmacro()
