#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Everything that needs a GPU, on a machine that has one and need not have a network: builds from this tree alone,
# runs the tests (those of numbers run on every device that is there; those of the sources' looks are left out), lets
# compute-sanitizer watch some of them, measures.
#
#   tests/gpu.sh [--seconds N] [--jobs N] [build] [test] [sanitize] [bench]
#
# Without a part: build test sanitize. Each program has a limit of its own, and all together take at most N seconds (330 unless
# told): what did not get its turn is counted as such. Needs gcc or clang, CMake and Ninja or make. Works in build-gpu/, with the whole
# output of each part in build-gpu/log/. Ends with the counts; fails if anything failed or nothing passed.
set -u
cd "$(dirname "$0")/.." || exit 2
build=$PWD/build-gpu log=$PWD/build-gpu/log
seconds=330 jobs=$(nproc 2>/dev/null || echo 4) parts=()
passed=0 failed=0 skipped=0 unreached=0 faults=()

while [ $# -gt 0 ]; do
  case $1 in
  --seconds) seconds=${2:?} && shift ;;
  --jobs) jobs=${2:?} && shift ;;
  build | test | sanitize | bench) parts+=("$1") ;;
  *) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2 && exit 2 ;;
  esac
  shift
done
[ ${#parts[@]} -gt 0 ] || parts=(build test sanitize)

# Kernels that one part compiled serve the next; the user's cache stays as it is.
export XDG_CACHE_HOME=$build/cache
mkdir -p "$log" "$XDG_CACHE_HOME" && chmod 700 "$XDG_CACHE_HOME" || exit 2

left() { echo $((seconds - SECONDS)); }

# bounded LIMIT COMMAND...: runs it for at most LIMIT seconds and at most until the end; 124 when that was too short.
bounded() {
  local limit=$1 now
  now=$(left)
  shift
  [ "$now" -gt 1 ] || return 124
  timeout -k 5 $((limit < now ? limit : now)) "$@"
}

fault() {
  failed=$((failed + 1))
  faults+=("$1")
}

# ---- build ----

build_part() {
  local generator=()
  command -v ninja >/dev/null && generator=(-G Ninja)
  { bounded 60 cmake -S . -B "$build" "${generator[@]}" -DCMAKE_BUILD_TYPE=Release -DAMBIT_WERROR=OFF &&
    bounded 240 cmake --build "$build" -j "$jobs"; } >"$log/build.txt" 2>&1 && {
    echo "built in $SECONDS s"
    return
  }
  tail -40 "$log/build.txt"
  fault "build (see $log/build.txt)"
  finish
}

# ---- tests ----

# How many lines of ctest's report match.
count() { grep -cE "^ *[0-9]+/[0-9]+ +Test .*$1" "$log/test.txt"; }

test_part() {
  local bad
  "$build/ambit" devices 2>&1 | tee "$log/devices.txt"
  grep -q '^ *cuda' "$log/devices.txt" || fault "ambit devices: no cuda device"
  bounded 240 env TEST_EVERY_CASE=1 ctest --test-dir "$build" -j "$((jobs < 8 ? jobs : 8))" --timeout 100 -LE meta -E 'nvrtc|plan.strip' --output-on-failure \
    >"$log/test.txt" 2>&1
  [ $? -ne 124 ] || fault "ctest: stopped, its time was over"
  grep -E '^(not ok|#)|\*\*\*' "$log/test.txt" | uniq | head -40
  passed=$((passed + $(count ' Passed ')))
  skipped=$((skipped + $(count '\*\*\*Skipped')))
  while read -r bad; do fault "test $bad"; done < <(
    sed -nE '/\*\*\*(Skipped|Not Run \(Disabled\))/d; s/^ *[0-9]+\/[0-9]+ +Test +#[0-9]+: +([^ ]+) .*\*\*\*.*/\1/p' "$log/test.txt")
}

# ---- sanitizer ----

# Programs that run kernels of every kind: boundaries, reductions, boxes and faces, all types, 1 to 6 dimensions.
watched=(
  "tests/runtime/test_boundaries"
  "tests/runtime/test_fixed"
  "tests/runtime/test_program"
  "tests/runtime/test_reduce"
  "tests/plan/test_fused_parts steps_on_faces_and_boxes_of_gpus"
  "tests/plan/test_fused_parts tiles_stay"
  "tests/random/test_random --device cuda --seed 0x1000 --count 8"
)

# Runs in the background; what came of it is one line in a file.
watch() { # tool, program and its arguments
  local tool=$1 name=$1-${2##*/}-${3:-all} status
  shift
  bounded 90 compute-sanitizer --tool "$tool" --error-exitcode 99 "$@" >"$log/$name.txt" 2>&1
  status=$?
  if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
    echo "unreached"
  elif [ "$status" -ne 0 ] && [ "$status" -ne 77 ]; then
    echo "fault $name: status $status ($log/$name.txt)"
  elif grep -q 'ERROR SUMMARY: 0 errors\|RACECHECK SUMMARY: 0 hazards' "$log/$name.txt"; then
    echo "pass"
  else
    echo "fault $name: the sanitizer saw no kernel ($log/$name.txt)"
  fi >"$log/$name.verdict"
}

sanitize_part() {
  local tool program verdict
  PATH=$PATH:/usr/local/cuda/bin
  if ! command -v compute-sanitizer >/dev/null; then
    echo "compute-sanitizer is not installed"
    skipped=$((skipped + 3 * ${#watched[@]}))
    return
  fi
  rm -f "$log"/*.verdict
  for tool in memcheck racecheck initcheck; do
    for program in "${watched[@]}"; do
      # shellcheck disable=SC2086 # words of a command
      watch "$tool" "$build/"$program &
    done
    wait
  done
  for verdict in "$log"/*.verdict; do
    case $(cat "$verdict") in
    pass) passed=$((passed + 1)) ;;
    unreached) unreached=$((unreached + 1)) && echo "not enough time for $(basename "$verdict" .verdict)" ;;
    *)
      fault "$(sed 's/^fault //' "$verdict")"
      grep -hE '=========|^not ok|^#' "${verdict%.verdict}.txt" | head -12
      ;;
    esac
  done
}

# ---- measurements ----

# The sizes of docs/performance.md; one line of JSON each.
rows() {
  local type r
  for type in float double; do
    for r in 1 2; do
      echo "star2d$r 16384x16384 $type t100 r3"
      echo "box2d$r 16384x16384 $type t100 r3"
      echo "star3d$r 512x512x512 $type t100 r3"
      echo "box3d$r 512x512x512 $type t100 r3"
    done
  done
  echo "star2d1 44000x44000 float t20 r3"
  echo "star2d1 16381x16381 float t100 r3"
  echo "star3d1 1024x1024x1024 float t50 r3"
  echo "star2d1 256x256 float t10000 r3"
}

bench_part() {
  local row line
  : >"$build/bench-gpu.jsonl"
  while read -r row; do
    line=$(AMBIT_DEVICES=cuda bounded 30 "$build/ambit" bench "$row" 2>>"$log/bench.txt" | grep '^{' | tail -1)
    if [ -n "$line" ]; then
      passed=$((passed + 1))
      echo "$line" | tee -a "$build/bench-gpu.jsonl"
    elif [ "$(left)" -le 1 ]; then
      unreached=$((unreached + 1))
    else
      fault "bench $row ($log/bench.txt)"
    fi
  done < <(rows)
}

# ---- the whole ----

finish() {
  local f
  echo
  for f in "${faults[@]+"${faults[@]}"}"; do echo "failed  $f"; done
  echo "$passed passed, $failed failed, $skipped skipped, $unreached without time; $SECONDS s"
  [ "$failed" -eq 0 ] && [ "$unreached" -eq 0 ] && { [ "$passed" -gt 0 ] || [ "${parts[*]}" = build ]; }
  exit $?
}

for part in "${parts[@]}"; do
  echo "==== $part"
  "${part}_part"
done
finish
