# SPDX-License-Identifier: BSD-3-Clause
# Every build tries the corpus and variations of it. libFuzzer, which needs clang and its own build, is part of make check-long, but
# for options: they need the whole library.

add_library(fuzz_replay OBJECT fuzz/main.c)
foreach(run "kernel 3000" "options 60" "raster 3000" "texts 3000" "y4m 3000")
  if(run MATCHES "raster" AND NOT AMBIT_ELEVATION)
    continue()
  endif()
  separate_arguments(run)
  list(POP_FRONT run name count)
  file(GLOB corpus CONFIGURE_DEPENDS fuzz/corpus/${name}/*)
  add_executable(fuzz_${name}_replay fuzz/fuzz_${name}.c)
  if(name STREQUAL "options")
    target_link_libraries(fuzz_${name}_replay PRIVATE fuzz_replay ambit_internal -Wl,--wrap=ambit__net_open)
  else()
    target_link_libraries(fuzz_${name}_replay PRIVATE fuzz_replay ambit_inside)
  endif()
  add_test(NAME fuzz.${name} COMMAND fuzz_${name}_replay --vary ${count} 1 ${corpus})
  ambit_test_properties(fuzz.${name} fuzz 120)
endforeach()
file(GLOB corpus CONFIGURE_DEPENDS fuzz/corpus/options/*)
ambit_long_test(long.fuzz.options fuzz 3600 fuzz_options_replay --vary 3000000 1000000 ${corpus})
