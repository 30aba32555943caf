# SPDX-License-Identifier: BSD-3-Clause
# Which build runs which test of make check: one of the two, but for a few. The first line that fits the name of a test decides.
#
#   sanitized  the build with sanitizers: host code, where mistakes of memory are
#   release    the optimised build: generated code, vectors, several processes
#   both       two builds of the library are the subject
#   opencl     the sanitized build on the cores, the release build with OpenCL on the processor, which compiles slowly
#   plain      the release build; sanitizers do not see it, or it takes too long there (label slow: never run there)
#   long       none: make check-long only
#
# A build has the tests of the others too: ctest by hand runs them, and make check-long (label spare).
set(AMBIT_HOMES
  sanitized "^port[.]refused"
  both      "^(base|python)[.]|^random[.](random|parts[.]3)$"
  long      "^examples[.](07_restore|12_taylor_green|13_multigrid|23_ising|29_vlasov_2d2v)$" # of 5 s and more
  long      "^bench[.]|^runtime[.](many_steps|unlike)$"
  plain     "^(bench|examples|install|meta|port)[.]|^io[.]vtk"

  # base/ to plan/
  release   "^codegen[.]|^device[.](compile|gpu|machine|trial)$"
  long      "^plan[.]fused_parts[.]"
  plain     "^device[.](emulated|gpu_kernels|nvrtc|parts_launch)|^plan[.](fused|strip)"

  # Several processes: net/ has the messages, and each layer above it those that it sends itself. A process compiles for itself.
  # Of two MPIs the first starts large messages, the last one, which starts sooner, processes that fail.
  plain     "^net[.]large($|[.]${AMBIT_FIRST_FAMILY})"
  release   "^runtime[.]faults[.]${AMBIT_LAST_FAMILY}"
  sanitized "^net[.]faults[.]${AMBIT_LAST_FAMILY}"
  long      "^net[.]large|^(net|runtime)[.]faults[.]"
  long      "^(io|skeleton|view)[.][a-z]+[.][a-z]+[.][12]$|^runtime[.](component_boundaries|resample|view)[.][a-z]+[.]1$|^runtime[.]relax[.][a-z]+[.]1$"
  sanitized "^(io|skeleton|view)[.][a-z]+[.][a-z]+[.]3$|^runtime[.](component_boundaries|packed|resample|view|compare_processes)[.][a-z]+[.]"

  # runtime/
  long      "^runtime[.](arithmetic[.]opencl|strips|tune[.].*)$|^runtime[.](points|profiles|sweeps)[.][a-z]+[.]3$"
  plain     "^runtime[.]tune|^runtime[.]starved[.]opening"
  opencl    "^runtime[.](faces|lines|reduce|register_source|sparse_storage|until)$"
  release   "^runtime[.](arithmetic|conditions|factored|injected[.]cuda|narrow|random|repeats|unsigned)$|^runtime[.].*[.](openmpi|mpich)[.][2-9]$"

  # random/
  plain     "^random[.](again|all_kinds|checked|cuda|killed)|^random[.]opencl([.](openmpi|mpich|parts|sparse))?$"
  long      "^random[.]opencl"
  release   "^random[.](cells|coloured|lines|narrow|small|unsigned|waves)$|^random[.][a-z]+[.](2[.]1|4[.]1|mixed|sparse[.]2)$"

  # What is read by people: start-up and leak checks of the sanitized tool take longer than what it does.
  long      "^tool[.]names"
  plain     "^tool[.](aware|bench|checkpoint|gen|manual|mpi|sturdy)|^view[.]browser"
  release   "^tool[.](explain|run|trace|tune)|^view[.]terminal"

  sanitized ".")

function(ambit_home result test)
  set(homes ${AMBIT_HOMES})
  while(homes)
    list(POP_FRONT homes home pattern)
    if(test MATCHES "${pattern}")
      break()
    endif()
  endwhile()
  set(${result} ${home} PARENT_SCOPE)
endfunction()

# Whether make check leaves a test to the other build or to make check-long. The build that counts lines runs all.
function(ambit_is_spare result test)
  ambit_home(home ${test})
  if(AMBIT_SANITIZE)
    set(here both opencl plain sanitized)
  else()
    set(here both opencl plain release)
  endif()
  set(${result} ON PARENT_SCOPE)
  if(AMBIT_TEST_WHOLE OR home IN_LIST here)
    set(${result} OFF PARENT_SCOPE)
  endif()
endfunction()
