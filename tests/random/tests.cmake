# SPDX-License-Identifier: BSD-3-Clause
# Random programs: in make check a few of each kind, in make check-long as many as there is time for.

foreach(parts 2 3 4 6 7)
  add_test(NAME random.parts.${parts} COMMAND test_random_random --device cpu*${parts} --count ${random_parts} --seed 0x2${parts}00)
  ambit_test_properties(random.parts.${parts} random 300)
endforeach()
add_test(NAME random.narrow COMMAND test_random_random --count 8 --seed 0x10000000000)
ambit_test_properties(random.narrow random 300)
add_test(NAME random.unsigned COMMAND test_random_random --count 2 --seed 0x40000001078)
ambit_test_properties(random.unsigned random 300)
add_test(NAME random.lines COMMAND test_random_random --count 8 --seed 0x80000001010)
ambit_test_properties(random.lines random 300)
add_test(NAME random.lines_parts COMMAND test_random_random --device cpu*3 --count 6 --seed 0x80000002000)
ambit_test_properties(random.lines_parts random 300)
add_test(NAME random.points COMMAND test_random_random --seed 0x200000001000 --count 8)
add_test(NAME random.points_parts COMMAND test_random_random --device cpu*3 --seed 0x220000002000 --count 4)
ambit_test_properties(random.points random 300)
ambit_test_properties(random.points_parts random 300)
add_test(NAME random.waves COMMAND test_random_random --count 8 --seed 0x20000001078)
ambit_test_properties(random.waves random 300)
add_test(NAME random.coloured COMMAND test_random_random --plan "(wavefront" --count 8 --seed 0x100000001000)
add_test(NAME random.coloured_parts COMMAND test_random_random --device cpu*3 --count 6 --seed 0x100000002000)
foreach(test random.coloured random.coloured_parts)
  ambit_test_properties(${test} random 300)
endforeach()
add_test(NAME random.cells COMMAND test_random_random --plan "(cells" --count 8 --seed 0x9100)
add_test(NAME random.cells_parts COMMAND test_random_random --plan "(cells" --device cpu*3 --count 6 --seed 0x9300)
foreach(test random.cells random.cells_parts)
  ambit_test_properties(${test} random 300)
endforeach()
add_test(NAME random.checkpoint COMMAND test_random_random --checkpoint --count 4 --seed 0x7000)
ambit_test_properties(random.checkpoint random 300)
add_test(NAME random.sparse COMMAND test_random_random --sparse --count 8 --seed 0x5048)
ambit_test_properties(random.sparse random 300)
foreach(parts 2 3 4)
  add_test(NAME random.sparse.${parts} COMMAND test_random_random --sparse --device cpu*${parts} --count 4 --seed 0x5${parts}00
    $<$<EQUAL:${parts},4>:--sleep>)
  ambit_test_properties(random.sparse.${parts} random 300)
endforeach()
foreach(family ${AMBIT_UPPER_FAMILIES})
  foreach(run "2 1" "3 1" "4 1" "2 2") # one part in each process, and two
    separate_arguments(run)
    list(GET run 0 processes)
    list(GET run 1 parts)
    ambit_family_test(random.${family}.${processes}.${parts} ${family} ${processes} random 300 ${AMBIT_MPIRUN_${family}}
      -n ${processes} $<TARGET_FILE:test_random_random> --device cpu*${parts} --count 4 --seed 0x3${processes}${parts}0)
  endforeach()
endforeach()

foreach(family ${AMBIT_UPPER_FAMILIES}) # sources, receivers, and runs in stretches
  ambit_family_test(random.${family}.points ${family} 2 random 300 ${AMBIT_MPIRUN_${family}} -n 2 $<TARGET_FILE:test_random_random>
    --count 4 --seed 0x220000005000)
endforeach()
foreach(family ${AMBIT_UPPER_FAMILIES}) # an option that one process has alone
  ambit_family_test(random.${family}.checkpoint ${family} 3 random 300 ${AMBIT_MPIRUN_${family}} -n 3
    $<TARGET_FILE:test_random_random> --checkpoint --count 1 --seed 0x3330)
  ambit_family_test(random.${family}.mixed ${family} 2 random 120 ${AMBIT_MPIRUN_${family}} -n 2
    $<TARGET_FILE:test_random_small> --mixed --count 4)
endforeach()

foreach(family ${AMBIT_UPPER_FAMILIES}) # sparse grids
  foreach(processes 2 3)
    ambit_family_test(random.${family}.sparse.${processes} ${family} ${processes} random 300 ${AMBIT_MPIRUN_${family}}
      -n ${processes} $<TARGET_FILE:test_random_random> --sparse --count 3 --seed 0x6${processes}00)
  endforeach()
endforeach()

foreach(family ${AMBIT_UPPER_FAMILIES}) # messages that come late, and one after the other
  ambit_family_test(random.${family}.slow ${family} 2 random 300 ${AMBIT_MPIRUN_${family}} -n 2 $<TARGET_FILE:test_random_random>
    --device cpu*2 --count 4 --seed 0x3400)
  set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT "SLOW_NETWORK=300us,20MB/s")
endforeach()

foreach(device cuda opencl) # each takes its time to compile: a few programs
  add_test(NAME random.${device} COMMAND test_random_random --device ${device} --count 1 --seed 0x1010)
  add_test(NAME random.${device}.parts COMMAND test_random_random --device ${device}*3 --count 1 --seed 0x4018)
  add_test(NAME random.${device}.cpu COMMAND test_random_random --device ${device},cpu --count 1 --seed 0x4100)
  add_test(NAME random.${device}.lines COMMAND test_random_random --device ${device}*2 --count 1 --seed 0x80000004018)
  add_test(NAME random.${device}.sparse COMMAND test_random_random --sparse --device ${device}*2 --count 1 --seed 0x7101)
  add_test(NAME random.${device}.list COMMAND test_random_random --sparse --device ${device}*2 --count 1 --seed 0x7100)
  foreach(test random.${device} random.${device}.parts random.${device}.cpu random.${device}.lines random.${device}.sparse random.${device}.list)
    ambit_test_properties(${test} random 300)
  endforeach()
  # The plan of GPUs, also on processors; runtime.sparse_storage has theirs.
  set_property(TEST random.${device}.sparse APPEND PROPERTY ENVIRONMENT "AMBIT_PLAN=(sparse 256 wide 4" AMBIT_STORAGE=runs)
  set_property(TEST random.${device}.list APPEND PROPERTY ENVIRONMENT AMBIT_STORAGE=list)
endforeach()
foreach(family ${AMBIT_MPI_FAMILIES}) # processes that share a GPU
  ambit_family_test(random.cuda.${family} ${family} 2 random 300 ${AMBIT_MPIRUN_${family}} -n 2 $<TARGET_FILE:test_random_random>
    --device cuda --count 8 --seed 0x4200)
  ambit_family_test(random.opencl.${family} ${family} 2 random 300 ${AMBIT_MPIRUN_${family}} -n 2
    $<TARGET_FILE:test_random_random> --device opencl --count 2 --seed 0x4328)
  set(program $<TARGET_FILE:test_random_random> --count 2 --seed 0x4328) # or do not, and still cut the grid alike
  ambit_family_test(random.opencl_cpu.${family} ${family} 2 random 300 ${AMBIT_MPIRUN_${family}} -n 1 ${program} --device opencl
    : -n 1 ${program} --device cpu)
  set(program $<TARGET_FILE:test_random_random> --count 4 --seed 0x4401)
  ambit_family_test(random.all_kinds.${family} ${family} 3 random 300 ${AMBIT_MPIRUN_${family}} -n 1 ${program} --device cuda
    : -n 1 ${program} --device opencl : -n 1 ${program} --device cpu)
endforeach()
add_test(NAME random.all_kinds COMMAND test_random_random --device cuda,opencl,cpu --recut --count 4 --seed 0x4500)
ambit_test_properties(random.all_kinds random 300)

foreach(run "cpu 8" "opencl 2") # with every result looked at, and every access in builds that check them
  separate_arguments(run)
  list(POP_FRONT run device count)
  add_test(NAME random.checked_${device}
           COMMAND test_random_random --checked --device ${device} --seed 0x1078 --count ${count})
  ambit_test_properties(random.checked_${device} random 300)
endforeach()

add_test(NAME random.unlike COMMAND test_random_random --device cpu,slow --recut --count 4 --seed 0x5100)
ambit_test_properties(random.unlike random 300)
add_test(NAME random.sleep COMMAND test_random_random --sleep --device cpu --count ${random_parts} --seed 0x1100)
add_test(NAME random.sleep_parts COMMAND test_random_random --sleep --device cpu*3 --count ${random_parts} --seed 0x2300)
add_test(NAME random.sleep_cuda COMMAND test_random_random --sleep --device cuda*2 --count 32 --seed 0x3300)
foreach(test random.sleep random.sleep_parts random.sleep_cuda)
  ambit_test_properties(${test} random 240)
endforeach()
add_test(NAME random.recut COMMAND test_random_random --device cpu*3 --recut --count 4 --seed 0x5200)
ambit_test_properties(random.recut random 300)
foreach(family ${AMBIT_UPPER_FAMILIES})
  ambit_family_test(random.recut.${family} ${family} 2 random 300 ${AMBIT_MPIRUN_${family}} -n 2
    $<TARGET_FILE:test_random_random> --device cpu*2 --recut --count 2 --seed 0x5300)
endforeach()
add_test(NAME random.checked_parts COMMAND test_random_random --checked --device cpu*3 --seed 0x1078 --count 8)
ambit_test_properties(random.checked_parts random 300)
if(AMBIT_ACCESS_CHECKS) # all other builds have slow ones only
  add_test(NAME random.access COMMAND test_random_random --checked --device cpu --seed 0x2078 --count 4)
  add_test(NAME random.access_parts COMMAND test_random_random --checked --device cpu*3 --seed 0x2078 --count 4)
  ambit_test_properties(random.access random 300)
  ambit_test_properties(random.access_parts random 300)
endif()

# Programs that were wrong once: whole vectors in a part that begins to the left of its own cells; a called program that rotates
# fields of its caller; a table looked up by comparisons, with gcc 13 and AVX-512.
foreach(run "cpu*3 0x200a39" "cpu 0x1014fe" "cpu 0x100068")
  separate_arguments(run)
  list(POP_FRONT run device seed)
  add_test(NAME random.again.${seed} COMMAND test_random_random --device ${device} --seed ${seed} --count 1)
  ambit_test_properties(random.again.${seed} random 60)
endforeach()

# ---- make check-long: more random programs than make check has time for -------------------------

ambit_long_test(long.random.small random 7200 test_random_small --seed 0x100000 --count 6000)
ambit_long_test(long.random.small.parts random 7200 test_random_small --device cpu*3 --seed 0x200000 --count 4000)
ambit_long_test(long.random.small.sparse random 7200 test_random_small --sparse --seed 0x300000 --count 4000)
ambit_long_test(long.random.small.sparse.parts random 7200 test_random_small --sparse --device cpu*2 --seed 0x400000 --count 2000)
foreach(family ${AMBIT_UPPER_FAMILIES})
  set(small ${AMBIT_MPIRUN_${family}} -n 2 $<TARGET_FILE:test_random_small>)
  ambit_long_test(long.random.small.${family} "random;mpi" 7200 ${small} --device cpu*2 --seed 0x500000 --count 1000)
  ambit_long_test(long.random.small.mixed.${family} "random;mpi" 3600 ${small} --mixed --seed 0x600000 --count 1000)
endforeach()
ambit_long_test(long.random.recut random 7200 test_random_random --device cpu*3 --recut --seed 0x500000 --count 2000)
ambit_long_test(long.random.unlike random 7200 test_random_random --device cpu,slow --recut --seed 0x600000 --count 2000)
foreach(run "cpu 0x100000 7000" "cpu*3 0x200000 2700" "opencl 0x300000 300")
  separate_arguments(run)
  list(POP_FRONT run device seed count)
  ambit_long_test(long.random.${device} random 7200 test_random_random --device ${device} --seed ${seed} --count ${count})
endforeach()

ambit_long_test(long.random.narrow random 7200 test_random_random --seed 0x10000100000 --count 4000)
ambit_long_test(long.random.unsigned random 7200 test_random_random --seed 0x40000100000 --count 4000)
ambit_long_test(long.random.unsigned.narrow random 7200 test_random_random --seed 0x50000100000 --count 1000)
ambit_long_test(long.random.unsigned.parts random 7200 test_random_random --device cpu*3 --seed 0x40000200000 --count 2000)
ambit_long_test(long.random.unsigned.opencl random 7200 test_random_random --device opencl --seed 0x40000300000 --count 200)
ambit_long_test(long.random.waves random 7200 test_random_random --seed 0x20000100000 --count 4000)
ambit_long_test(long.random.waves.parts random 7200 test_random_random --device cpu*3 --seed 0x20000200000 --count 2000)
ambit_long_test(long.random.points random 7200 test_random_random --seed 0x200000100000 --count 2000)
ambit_long_test(long.random.points.waves random 7200 test_random_random --seed 0x220000100000 --count 2000)
ambit_long_test(long.random.points.parts random 7200 test_random_random --device cpu*3 --seed 0x200000200000 --count 1000)
ambit_long_test(long.random.coloured random 7200 test_random_random --seed 0x100000100000 --count 4000)
ambit_long_test(long.random.coloured.parts random 7200 test_random_random --device cpu*3 --seed 0x100000200000 --count 2000)
ambit_long_test(long.random.coloured.opencl random 7200 test_random_random --device opencl --seed 0x100000300000 --count 200)
ambit_long_test(long.random.cells random 7200 test_random_random --plan "(cells" --seed 0x900000 --count 4000)
ambit_long_test(long.random.sparse random 7200 test_random_random --sparse --seed 0x500000 --count 4000)
ambit_long_test(long.random.sparse.checked random 7200 test_random_random --sparse --checked --device cpu*2 --seed 0x5d0000 --count 1000)
ambit_long_test(long.random.sparse.opencl random 7200 test_random_random --sparse --device opencl --seed 0x5c0000 --count 400)
ambit_long_test(long.random.sleep.opencl random 7200 test_random_random --sleep --device opencl*2 --seed 0x5e0000 --count 200)
ambit_long_test(long.random.sleep.unlike random 7200 test_random_random --sleep --device opencl,cpu --seed 0x5f0000 --count 100)
ambit_long_test(long.random.sparse.parts random 7200 test_random_random --sparse --device cpu*3 --seed 0x580000 --count 4000)
