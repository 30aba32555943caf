# SPDX-License-Identifier: BSD-3-Clause
# Tests that are scripts: of the tree, the documents, the tool, the package of Python.

if(NOT Python3_FOUND)
  message(STATUS "no Python 3: the tests that are scripts are left out")
  return()
endif()

# A Python that has NumPy, for tests that read our files with it: often the system's, not the first found.
foreach(candidate ${Python3_EXECUTABLE} /usr/bin/python3)
  if(NOT AMBIT_NUMPY_PYTHON)
    execute_process(COMMAND ${candidate} -c "import numpy" RESULT_VARIABLE no_numpy OUTPUT_QUIET ERROR_QUIET)
    if(NOT no_numpy)
      set(AMBIT_NUMPY_PYTHON ${candidate} CACHE FILEPATH "a Python that can import numpy")
    endif()
  endif()
endforeach()

# ambit_script(label.name file.py [TIMEOUT seconds] [ARGS ...])
function(ambit_script test file)
  cmake_parse_arguments(T "" "TIMEOUT" "ARGS" ${ARGN})
  string(REGEX REPLACE "\\..*" "" label ${test})
  add_test(NAME ${test} COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/${file} ${T_ARGS})
  ambit_test_properties(${test} ${label} "${T_TIMEOUT}")
endfunction()

ambit_script(meta.abi meta/check_abi.py ARGS ${CMAKE_C_COMPILER})
ambit_script(meta.format meta/check_format.py ARGS --sample)
ambit_long_test(long.format meta 600 ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/meta/check_format.py)
ambit_script(meta.harness meta/check_harness.py)
ambit_script(meta.header meta/check_header.py)
ambit_script(meta.layers meta/check_layers.py)
set(mpirun "") # of the first MPI
if(AMBIT_MPI_FAMILIES)
  list(GET AMBIT_MPI_FAMILIES 0 mpirun)
  set(mpirun ${AMBIT_MPIRUN_${mpirun}})
endif()
foreach(share 1 2)
  ambit_script(meta.examples.${share} docs/check_examples.py TIMEOUT 900
    ARGS ${share}/2 $<TARGET_FILE:ambit_tool> $<TARGET_FILE:ambit> ${CMAKE_C_COMPILER} c++ ${mpirun})
endforeach()
ambit_long_test(long.examples meta 3600 ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/docs/check_examples.py
  1/1 $<TARGET_FILE:ambit_tool> $<TARGET_FILE:ambit> ${CMAKE_C_COMPILER} c++ ${mpirun})
ambit_script(meta.options docs/check_options.py)
ambit_script(meta.readme docs/check_readme.py TIMEOUT 120
  ARGS $<TARGET_FILE:ambit> ${CMAKE_CURRENT_BINARY_DIR}/docs/readme ${CMAKE_C_COMPILER})
ambit_script(install.gpu_kernels docs/check_gpu_kernels.py TIMEOUT 120
  ARGS $<TARGET_FILE:ambit> $<TARGET_FILE:ambit_tool> ${CMAKE_CURRENT_BINARY_DIR}/docs/gpu-kernels ${CMAKE_C_COMPILER})
ambit_long_test(long.site meta 600 ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/docs/check_site.py
  ${CMAKE_CURRENT_BINARY_DIR}/site)
ambit_script(meta.lists meta/check_lists.py)
ambit_script(meta.release meta/check_release.py)
ambit_script(meta.setup meta/check_setup.py)
ambit_script(meta.source meta/check_source.py)
ambit_script(meta.names meta/check_names.py)
ambit_script(meta.symbols meta/check_symbols.py ARGS $<TARGET_FILE:ambit>)
ambit_script(meta.tidy meta/check_tidy.py TIMEOUT 600 ARGS ${PROJECT_BINARY_DIR})
ambit_long_test(long.tidy meta 3600 ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/meta/check_tidy.py ${PROJECT_BINARY_DIR} 100000)
ambit_script(meta.testing meta/measure_tests.py ARGS check ${PROJECT_BINARY_DIR})
ambit_script(meta.words meta/check_words.py)

# The programs of bench/programs give the results of their OpenMP nests, at small sizes.
find_package(OpenMP COMPONENTS C QUIET)
if(NOT AMBIT_SANITIZE AND OpenMP_C_FOUND)
  set(nests axes diffusion driven driver flows integers lattice media plasma reactions sums transport waves)
  list(TRANSFORM nests REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/bench/programs/\\1.c")
  add_executable(test_bench_programs ${nests})
  target_link_libraries(test_bench_programs PRIVATE ambit OpenMP::OpenMP_C m)
  add_test(NAME bench.programs COMMAND test_bench_programs --size small)
  ambit_test_properties(bench.programs bench 120)
  set_property(TEST bench.programs APPEND PROPERTY ENVIRONMENT "OMP_WAIT_POLICY=passive") # other tests run meanwhile
endif()

if(AMBIT_NUMPY_PYTHON)
  add_test(NAME io.numpy COMMAND ${AMBIT_NUMPY_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/io/check_npy.py $<TARGET_FILE:test_io_npy>)
  ambit_test_properties(io.numpy io 60)
endif()

# Sanitizers see what Python does with the library: memory, callbacks, files. Examples and errors of kernels are Python's own part.
if(NOT BUILD_SHARED_LIBS OR NOT AMBIT_STREAMS OR NOT "AMBIT_HAVE_PNG=1" IN_LIST AMBIT_DEFINITIONS)
  add_test(NAME python.package COMMAND sh -c "echo 'skipped: the tests of the Python package use the shared library, streams and pictures, of which this build leaves one out'; exit 77")
  set_tests_properties(python.package PROPERTIES LABELS python SKIP_RETURN_CODE 77)
elseif(NOT AMBIT_SANITIZE)
  ambit_script(python.package python/run.py TIMEOUT 300 ARGS $<TARGET_FILE:ambit> -k "not notebook_runs and not has_types")
  ambit_long_test(long.python python 600 ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/python/run.py $<TARGET_FILE:ambit>)
elseif(AMBIT_SANITIZE MATCHES "address" AND CMAKE_C_COMPILER_ID STREQUAL "GNU") # whose sanitizers are libraries to load first
  ambit_script(python.package python/run.py TIMEOUT 300 ARGS $<TARGET_FILE:ambit> -k "basics or memory")
endif()

# VTK and h5py, of scripts/setup check-all, read our files. Sanitizers see io.field, which writes them.
if(NOT AMBIT_SANITIZE) # the emulated GPU: halves, tiles that sleep, conditions that it checks itself
  foreach(case half:halves_are_the_same_bits_on_every_device sleep:from_nan_to_nan_is_no_change until:a_bound_is_compared_in_double)
    string(REPLACE ":" ";" case ${case})
    list(POP_FRONT case name)
    add_test(NAME device.emulated.${name} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/device/emulated/run $<TARGET_FILE:test_runtime_${name}> ${case})
    ambit_test_properties(device.emulated.${name} device 240)
    set_property(TEST device.emulated.${name} APPEND PROPERTY ENVIRONMENT "TEST_DEVICES=ref cuda" EMULATED_LEVEL=-O0 "EMULATED_DIR=${CMAKE_BINARY_DIR}/tests/emulated")
    set_tests_properties(device.emulated.${name} PROPERTIES RESOURCE_LOCK emulated) # the first builds the driver and the compiler
  endforeach()
endif()

if(NOT AMBIT_SANITIZE AND "AMBIT_HAVE_HDF5=1" IN_LIST AMBIT_DEFINITIONS)
  ambit_script(io.vtk io/check_hdf5.py TIMEOUT 180 ARGS $<TARGET_FILE:test_io_field> $<TARGET_FILE:ambit_tool> ${mpirun})
  ambit_test_properties(io.vtk "io;mpi" 180)
endif()
ambit_script(view.browser view/check_browser.py TIMEOUT 600 ARGS $<TARGET_FILE:ambit_tool>) # its subject is the page
ambit_script(view.http view/check_http.py TIMEOUT 600 ARGS $<TARGET_FILE:ambit_tool> ${AMBIT_MPIRUN_${AMBIT_FIRST_FAMILY}})
ambit_script(view.terminal view/check_terminal.py TIMEOUT 600 ARGS $<TARGET_FILE:ambit_tool>)
set_property(TEST view.browser view.http view.terminal APPEND PROPERTY ENVIRONMENT AMBIT_THREADS=1) # runs compute until they are killed

foreach(name bench command explain manual names run stream sturdy tune)
  if(AMBIT_NUMPY_PYTHON AND (AMBIT_STREAMS OR NOT name STREQUAL "stream"))
    add_test(NAME tool.${name} COMMAND ${AMBIT_NUMPY_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/tool/test_${name}.py
             $<TARGET_FILE:ambit_tool>)
    ambit_test_properties(tool.${name} tool 180)
  endif()
endforeach()
if(AMBIT_NUMPY_PYTHON)
  ambit_long_test(long.tool.names tool 3600 ${AMBIT_NUMPY_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/tool/test_names.py
    $<TARGET_FILE:ambit_tool>)
endif()
# Serial programs, translated by `ambit port`.
if(TARGET ambit_port)
  set(port $<TARGET_FILE:ambit_port>)
  set(port_args ${port} $<TARGET_FILE:ambit> ${PROJECT_SOURCE_DIR} ${CMAKE_C_COMPILER})
  ambit_script(port.refused port/test_refused.py ARGS ${port})
  if(NOT AMBIT_SANITIZE) # programs are compiled and linked as users do
    ambit_script(port.tool port/test_tool.py TIMEOUT 300 ARGS ${port_args} $<TARGET_FILE:ambit_tool>)
    ambit_script(port.programs port/test_programs.py TIMEOUT 300 ARGS ${port_args} ref none)
    ambit_script(port.cpu port/test_programs.py TIMEOUT 300 ARGS ${port_args} cpu none -- branches cardiac edges_flat)
    ambit_script(port.opencl port/test_programs.py TIMEOUT 300 ARGS ${port_args} opencl none -- edges_flat)
    ambit_script(port.random port/test_random.py TIMEOUT 300 ARGS ${port_args} ref 1000 4)
    ambit_script(port.files port/test_files.py TIMEOUT 300 ARGS ${port_args} ref 1000 5)
    foreach(family ${AMBIT_MPI_FAMILIES})
      if(family STREQUAL AMBIT_FIRST_FAMILY)
        ambit_script(port.${family} port/test_programs.py TIMEOUT 300 ARGS ${port_args} none 2,3 ${AMBIT_MPIRUN_${family}} -- edges_flat)
      endif()
      ambit_long_test(long.port.${family} "port;mpi" 3600 ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/port/test_programs.py
        ${port_args} none 1,2,3 ${AMBIT_MPIRUN_${family}})
    endforeach()
    ambit_long_test(long.port.programs port 3600 ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/port/test_programs.py
      ${port_args} ref,cpu,opencl none)
    ambit_long_test(long.port.files port 3600 ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/port/test_files.py
      ${port_args} ref 5000 300)
    ambit_long_test(long.port.random port 3600 ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/port/test_random.py
      ${port_args} ref,cpu 5000 200)
  endif()
else()
  add_test(NAME port.programs COMMAND sh -c "echo 'skipped: this build has no ambit port (libclang)'; exit 77")
  set_tests_properties(port.programs PROPERTIES LABELS port SKIP_RETURN_CODE 77)
endif()

set(checkpoint_args $<TARGET_FILE:ambit_tool> ${PROJECT_BINARY_DIR}/examples ${CMAKE_C_COMPILER} ${AMBIT_MPIRUN_${AMBIT_FIRST_FAMILY}})
ambit_script(tool.checkpoint tool/test_checkpoint.py TIMEOUT 240 ARGS ${checkpoint_args})
set(killed_args $<TARGET_FILE:test_random_random> 2 0x73000 ${AMBIT_MPIRUN_${AMBIT_FIRST_FAMILY}})
ambit_script(random.killed random/check_killed.py ARGS ${killed_args})
list(TRANSFORM killed_args REPLACE "^2$" 60)
ambit_long_test(long.random.killed random 3600 ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/random/check_killed.py ${killed_args})
ambit_long_test(long.random.checkpoint random 3600 test_random_random --checkpoint --count 400 --seed 0x70000)
ambit_long_test(long.random.checkpoint.sparse random 3600 test_random_random --checkpoint --sparse --count 200 --seed 0x71000)
ambit_long_test(long.random.checkpoint.opencl random 3600 test_random_random --checkpoint --device opencl --count 40 --seed 0x72000)
ambit_long_test(long.tool.checkpoint tool 3600 ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/tool/test_checkpoint.py ${checkpoint_args})
if(TARGET terrain AND AMBIT_ELEVATION)
  add_custom_target(test_terrain ALL)
  add_dependencies(test_terrain terrain)
  ambit_script(tool.terrain tool/test_terrain.py ARGS $<TARGET_FILE:terrain>)
endif()
ambit_script(tool.trace tool/test_trace.py TIMEOUT 180 ARGS $<TARGET_FILE:ambit_tool>)
foreach(family ${AMBIT_MPI_FAMILIES})
  ambit_family_test(tool.trace.${family} ${family} 2 tool 180 ${Python3_EXECUTABLE} -B
    ${CMAKE_CURRENT_SOURCE_DIR}/tool/test_trace.py $<TARGET_FILE:ambit_tool> ${AMBIT_MPIRUN_${family}})
endforeach()
ambit_script(install.gen tool/test_gen.py TIMEOUT 400
  ARGS $<TARGET_FILE:ambit_tool> ${CMAKE_C_COMPILER} ${PROJECT_SOURCE_DIR}/include $<TARGET_FILE:ambit>)

foreach(language cuda opencl)
  ambit_script(tool.gen_${language} tool/test_gen_gpu.py TIMEOUT 600 ARGS $<TARGET_FILE:ambit_tool> ${language})
  ambit_long_test(long.tool.gen_${language} tool 3600 ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/tool/test_gen_gpu.py
    $<TARGET_FILE:ambit_tool> ${language})
endforeach()

if(AMBIT_MPI_FAMILIES)
  add_executable(net_faulty net/faulty.c)
  target_link_libraries(net_faulty PRIVATE ambit_internal -Wl,--wrap=ambit__clock)
  add_dependencies(net_faulty ${AMBIT_MODULES})
  add_executable(runtime_faulty runtime/faults/faulty.c support/slow_net.c)
  target_include_directories(runtime_faulty PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(runtime_faulty PRIVATE ambit_internal -Wl,--wrap=ambit__program_iterate)
  add_dependencies(runtime_faulty ${AMBIT_MODULES})
  foreach(family ${AMBIT_MPI_FAMILIES})
    add_test(NAME runtime.faults.${family} COMMAND ${Python3_EXECUTABLE} -B
      ${CMAKE_CURRENT_SOURCE_DIR}/runtime/faults/test_faults.py $<TARGET_FILE:runtime_faulty> ${AMBIT_MPIRUN_${family}})
    ambit_test_properties(runtime.faults.${family} "runtime;mpi" 200)
    set(others ${AMBIT_MPI_FAMILIES})
    list(REMOVE_ITEM others ${family})
    add_test(NAME net.faults.${family} COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/net/test_faults.py
      $<TARGET_FILE:net_faulty> ${family} ${AMBIT_MPIRUN_${family}} ${AMBIT_MPIRUN_${others}})
    ambit_test_properties(net.faults.${family} "net;mpi" 200)
  endforeach()
endif()

foreach(family ${AMBIT_MPI_FAMILIES})
  add_library(aware_shim_${family} SHARED net/aware_shim.c)
  target_link_libraries(aware_shim_${family} PRIVATE ambit_uses_${family} ${CMAKE_DL_LIBS})
  add_test(NAME tool.aware.${family} COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/tool/test_aware.py
           $<TARGET_FILE:ambit_tool> ${AMBIT_MPIRUN_${family}} $<TARGET_FILE:aware_shim_${family}>)
  ambit_test_properties(tool.aware.${family} "tool;mpi" 120)
  ambit_family_test(tool.mpi.${family} ${family} 2 tool 180 ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/tool/test_mpi.py
    $<TARGET_FILE:ambit_tool> ${AMBIT_MPIRUN_${family}})
  set_tests_properties(${test} PROPERTIES COST 50)
endforeach()

foreach(way cmake cmake_static pkgconfig pkgconfig_static components)
  ambit_script(install.${way} install/test_install.py TIMEOUT 120
    ARGS ${PROJECT_BINARY_DIR} ${CMAKE_CURRENT_BINARY_DIR}/install/${way} ${way} ${CMAKE_COMMAND} ${CMAKE_C_COMPILER} ${mpirun})
endforeach()

# ambit_fuzz(name seconds pattern): libFuzzer, with the sources that match
function(ambit_fuzz name seconds pattern)
  set(sources ${AMBIT_SOURCES})
  list(FILTER sources INCLUDE REGEX "^src/(${pattern})")
  list(TRANSFORM sources PREPEND ${PROJECT_SOURCE_DIR}/)
  ambit_long_test(long.fuzz.${name} fuzz 3600 ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/meta/run_fuzz.py
    ${CMAKE_CURRENT_SOURCE_DIR}/fuzz ${name} ${CMAKE_CURRENT_BINARY_DIR}/fuzz-${name} 1000000000 ${seconds} ${sources})
endfunction()
set(front_end "(base|grid|kernel)/|plan/launch_line.c|io/npy_header.c")
ambit_fuzz(kernel 1800 ${front_end})
ambit_fuzz(texts 1800 ${front_end})
ambit_fuzz(y4m 300 "base/|io/(frame|inlet|y4m|png)")
ambit_fuzz(raster 300 "base/|io/raster")
ambit_long_test(long.plan.total plan 3600 test_plan_total --count 200000)

# What takes longest begins first, so that no core waits for it at the end. The order of magnitude in CPU seconds; tests of a second
# or two need none.
function(ambit_costs cost)
  foreach(test ${ARGN})
    if(TEST ${test})
      set_tests_properties(${test} PROPERTIES COST ${cost})
    endif()
  endforeach()
endfunction()
# keep-sorted
ambit_costs(100 device.emulated.half device.emulated.sleep device.emulated.until device.nvrtc install.gen meta.examples.1 meta.examples.2
  meta.tidy plan.fused plan.fused_parts plan.strip port.programs port.tool python.package runtime.faults.mpich runtime.narrow tool.checkpoint view.browser view.terminal)
# keep-sorted
ambit_costs(50 bench.programs device.access device.compile device.gpu device.gpu_kernels device.parts_launch
  io.field.${AMBIT_FIRST_FAMILY}.3 net.faults.mpich net.faults.openmpi net.large.${AMBIT_FIRST_FAMILY}.2
  plan.fused_parts.${AMBIT_FIRST_FAMILY}.2 random.${AMBIT_FIRST_FAMILY}.points random.opencl random.random runtime.boundaries
  runtime.call.${AMBIT_FIRST_FAMILY}.1 runtime.checked_launch runtime.checkpoint runtime.folds runtime.injected
  runtime.join.${AMBIT_FIRST_FAMILY}.1 runtime.packed.${AMBIT_FIRST_FAMILY}.3 runtime.points.${AMBIT_FIRST_FAMILY}.1
  runtime.profiles.${AMBIT_FIRST_FAMILY}.1 runtime.program runtime.reduce runtime.relax.${AMBIT_FIRST_FAMILY}.3 runtime.repeats
  runtime.roles runtime.sleep.${AMBIT_FIRST_FAMILY}.1 runtime.starved.memory.${AMBIT_FIRST_FAMILY}.2.0 runtime.starved.memory.${AMBIT_FIRST_FAMILY}.3.1 runtime.steady_profiles
  runtime.sweeps.${AMBIT_FIRST_FAMILY}.1 runtime.tune runtime.until runtime.wavefront skeleton.stencil tool.bench tool.command
  tool.gen_cuda tool.gen_opencl tool.run tool.sturdy view.http view.viewer)
