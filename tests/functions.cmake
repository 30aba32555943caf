# SPDX-License-Identifier: BSD-3-Clause
# How tests are declared: programs, processes of MPI, long ones. Where make check runs them: homes.cmake.

# ambit_test(layer[/folder]/name [TIMEOUT seconds] [FILES more.c...] [LIBS more...] [ARGS ...]); make check-long has it too, with
# all its cases, if make check has some of them only.
function(ambit_test path)
  cmake_parse_arguments(T "" "TIMEOUT" "FILES;LIBS;ARGS" ${ARGN})
  ambit_test_program(${path} "")
  add_test(NAME ${test} COMMAND ${target} ${T_ARGS})
  ambit_test_properties(${test} ${layer} "${T_TIMEOUT}")
  file(STRINGS ${folder}/test_${name}.c sampled REGEX "EACH_DEVICE|EACH_PLACE|test_takes")
  if(sampled)
    ambit_long_test(long.${test} ${layer} 3600 ${target} ${T_ARGS})
  endif()
endfunction()

# The program of a test, as the arguments of the function that calls this say; sets layer (the first folder of its path), folder, test
# (its name) and target.
macro(ambit_test_program path suffix)
  get_filename_component(folder ${path} DIRECTORY)
  get_filename_component(name ${path} NAME)
  string(REGEX REPLACE "/.*" "" layer ${path})
  set(test ${layer}.${name})
  set(target test_${layer}_${name}${suffix})
  add_executable(${target} ${folder}/test_${name}.c ${T_FILES})
  ambit_home(home ${test})
  if(AMBIT_SANITIZE AND home STREQUAL "plain")
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME test_${name}${suffix} RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${layer})
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  set(inside ambit_inside)
  if("${T_LIBS}" MATCHES "--wrap=")
    set(inside ambit_internal)
  endif()
  target_link_libraries(${target} PRIVATE ${inside} ${T_LIBS})
  if(AMBIT_MODULES)
    add_dependencies(${target} ${AMBIT_MODULES})
  endif()
endmacro()

# Makes the program of a test that make check runs here a part of the target checked.
function(ambit_needs_program test)
  string(REPLACE "." ";" words ${test})
  list(GET words 0 layer)
  list(GET words 1 name)
  foreach(target test_${layer}_${name} test_${layer}_${name}_openmpi test_${layer}_${name}_mpich)
    if(TARGET ${target})
      add_dependencies(checked ${target})
    endif()
  endforeach()
endfunction()

function(ambit_test_properties test label timeout)
  if(NOT timeout OR timeout LESS 600) # for tests that hang: a busy machine may take ten times as long as an idle one
    set(timeout 600)
  endif()
  if(CMAKE_C_FLAGS_RELEASE MATCHES "--coverage") # not optimised, and counts: a program that is killed leaves none
    math(EXPR timeout "8 * ${timeout}")
  endif()
  ambit_home(home ${test})
  ambit_is_spare(is_spare ${test})
  if(label MATCHES "long")
    set(is_spare OFF)
  elseif(is_spare)
    list(APPEND label spare ${home})
  elseif(home STREQUAL "plain")
    list(APPEND label slow)
  endif()
  if(NOT label MATCHES "long|spare" AND NOT (AMBIT_SANITIZE AND label MATCHES "slow"))
    ambit_needs_program(${test})
  endif()
  # What a test tests does not depend on the GPUs that are there, unless it asks for them.
  list(APPEND environment "AMBIT_DEVICES=cpu")
  # OpenCL on the processor compiles slowly: under sanitizers the tests of the device itself must do, in the release build those and one
  # of each subject.
  if(AMBIT_SANITIZE AND NOT label MATCHES "^device")
    list(APPEND environment "TEST_DEVICES=ref cpu")
  elseif(NOT AMBIT_TEST_WHOLE AND home STREQUAL "opencl" AND NOT label MATCHES "long")
    list(APPEND environment "TEST_DEVICES=ref opencl")
  elseif(NOT AMBIT_TEST_WHOLE AND label MATCHES "^(io|runtime|skeleton|view)" AND NOT label MATCHES "long"
         AND NOT (is_spare AND test MATCHES "[.]1$")) # make check-long has the others on all devices as long.${test}
    list(APPEND environment "TEST_DEVICES=ref cpu cuda")
  endif()
  # Most of the time of tests with PoCL goes into its optimiser. Those that look for mistakes of compilers have it.
  if(NOT label MATCHES "long" AND NOT test MATCHES "^(random.opencl|random.checked_opencl|runtime.arithmetic)$")
    list(APPEND environment "POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable")
  endif()
  if(NOT AMBIT_SANITIZE MATCHES "thread" AND NOT test MATCHES "${subject_is_code}|${subject_is_long_runs}")
    list(APPEND environment "${quick_cc}")
  endif()
  # On aarch64 the leak check of gcc 12 and clang 14 takes 4 s of each process, since it walks all regions that memory could come
  # from. There some tests have it that use all layers; on x86_64 all have it.
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64" AND NOT test IN_LIST leak_tests)
    list(TRANSFORM environment REPLACE "detect_leaks=1" "detect_leaks=0")
  elseif(test MATCHES "^net.user") # calls MPI itself (src/net/mpi_leaks.h): its memory is known by the whole call stack only
    list(TRANSFORM environment REPLACE "^ASAN_OPTIONS=" "ASAN_OPTIONS=fast_unwind_on_malloc=0:")
  endif()
  set_tests_properties(${test} PROPERTIES
    LABELS "${label}" TIMEOUT ${timeout} SKIP_RETURN_CODE 77 ENVIRONMENT "${environment}")
endfunction()

# A test of make check-long, which searches for mistakes longer than make check has time for. Only `ctest -C long` has it.
function(ambit_long_test test label timeout) # COMMAND...
  add_test(NAME ${test} CONFIGURATIONS long COMMAND ${ARGN})
  ambit_test_properties(${test} "${label};long" ${timeout} OFF)
  set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT "AMBIT_TEST_LONG=1") # to programs that make check runs too
endfunction()

# A test of a layer above net with processes of one MPI: in make check if it is the first, else in make check-long.
function(ambit_family_test test family processes label timeout) # COMMAND...
  if(family STREQUAL AMBIT_FIRST_FAMILY)
    add_test(NAME ${test} COMMAND ${ARGN})
    ambit_test_properties(${test} "${label};mpi" ${timeout})
  else()
    set(test long.${test})
    ambit_long_test(${test} "${label};mpi" 3600 ${ARGN})
  endif()
  ambit_mpi_processes(${test} ${processes})
  set(test ${test} PARENT_SCOPE)
endfunction()

# Most of the time of a test of few processes is that of starting them: two such tests may run at once on two cores.
function(ambit_mpi_processes test n)
  math(EXPR cores "(${n} + 1) / 2")
  set_tests_properties(${test} PROPERTIES PROCESSORS ${cores})
endfunction()

# ambit_mpi_test(layer/name PROCESSES n... [USES_MPI] [as for ambit_test]): under the mpirun of each MPI there is, with each of
# these numbers of processes; layer.name.openmpi.2 is one test. USES_MPI: the program itself does, so there is one for each.
function(ambit_mpi_test path)
  cmake_parse_arguments(T "USES_MPI" "TIMEOUT" "PROCESSES;FILES;LIBS;ARGS" ${ARGN})
  set(libs ${T_LIBS})
  if(NOT T_USES_MPI)
    ambit_test_program(${path} "")
  endif()
  if(path MATCHES "^net/")
    set(families ${AMBIT_MPI_FAMILIES})
  else()
    set(families ${AMBIT_UPPER_FAMILIES})
  endif()
  foreach(family ${families})
    if(T_USES_MPI)
      set(T_LIBS ${libs} ambit_uses_${family})
      ambit_test_program(${path} _${family})
    endif()
    set(before "")
    foreach(n ${T_PROCESSES})
      set(case ${test}.${family}.${n})
      set(command ${AMBIT_MPIRUN_${family}} -n ${n} $<TARGET_FILE:${target}> ${T_ARGS})
      if(layer STREQUAL "net" OR family STREQUAL AMBIT_FIRST_FAMILY)
        add_test(NAME ${case} COMMAND ${command})
        ambit_test_properties(${case} "${layer};mpi" "${T_TIMEOUT}")
      else()
        set(case long.${case})
        ambit_long_test(${case} "${layer};mpi" 600 ${command})
      endif()
      if(n GREATER 1 AND NOT layer STREQUAL "net") # one process has compiled it all for OpenCL; processes with OpenCL: random.opencl
        set_property(TEST ${case} APPEND PROPERTY ENVIRONMENT "TEST_DEVICES=ref cpu cuda")
        if(case MATCHES "${subject_is_messages}" AND NOT AMBIT_TEST_WHOLE)
          set_property(TEST ${case} APPEND PROPERTY ENVIRONMENT AMBIT_CC=none)
        endif()
      endif()
      ambit_mpi_processes(${case} ${n})
      set_tests_properties(${case} PROPERTIES DEPENDS "${before}") # which compiled the same kernels
      set(before ${case})
    endforeach()
  endforeach()
endfunction()
