#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# run-tests.sh [BUILD] [--fuzz | --changed]: runs unit tests, lit tests, the repository checks, a share of the tests
# with one compiler pass disabled (skip-matrix.sh) and, with --fuzz, the quick part of fuzzing. With --changed, runs
# only the test programs that were linked since all tests last passed, the lit tests that the changes may affect
# (changed-tests.sh), and the checks. Prints the time of each part and the slowest tests. The last line is "N passed, N
# failed"; the exit code is nonzero if something failed.
set -uo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:-$root/build}" && pwd)
passed=0
failed=0
times=()
mode=${2:-}
stamp=$build/tests-passed
export PATH=/usr/lib/llvm-22/bin:$PATH

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

# count LOG PATTERN: prints the first number in the first matching line, or 0.
count() { grep -E "$2" "$1" | grep -oE '[0-9]+' | head -1 | grep . || echo 0; }

add() {
  passed=$((passed + $1))
  failed=$((failed + $2))
}

# timed NAME COMMAND...
timed() {
  local name=$1 start=$SECONDS
  shift
  "$@"
  times+=("$(printf '%5d s  %s' $((SECONDS - start)) "$name")")
}

# One test program per library, one process per core. Running the longest first would require their times.
unit_tests() {
  local test log status good bad
  mkdir "$logs/unit"
  local which=()
  [ "$mode" != --changed ] || [ ! -e "$stamp" ] || which=(-newer "$stamp")
  find "$build/test/unit" -name '*_tests' -type f -perm -u+x "${which[@]}" | sort |
    xargs -P "$(nproc)" -I{} sh -c 'log=$1/$(basename "$2"); "$2" --gtest_brief=1 >"$log" 2>&1; echo "exit $?" >>"$log"' _ "$logs/unit" {}
  for log in "$logs"/unit/*; do
    [ -e "$log" ] || continue # none was run
    status=$(sed -n '$s/^exit //p' "$log")
    good=$(count "$log" '^\[  PASSED  \] [0-9]+ test')
    bad=$(count "$log" '^ *[0-9]+ FAILED TEST')
    # A test program that crashes counts as at least one failure.
    [ "$status" != 0 ] && [ "$bad" = 0 ] && bad=1
    add "$good" "$bad"
    echo "$(basename "$log"): $good passed, $bad failed"
    [ "$status" = 0 ] || cat "$log"
  done
}

lit_tests() {
  local log=$logs/lit status good bad which=()
  command -v lit >/dev/null || {
    echo "lit: not found in /usr/lib/llvm-22/bin"
    add 0 1
    return
  }
  [ "$mode" != --changed ] || which=(--allow-empty-runs --filter "$("$root/tools/dev/changed-tests.sh")")
  lit "$build/test" --order=lexical -v --show-unsupported --time-tests "${which[@]}" >"$log" 2>&1
  status=$?
  good=$(count "$log" '^ *Passed *:')
  bad=$(grep -E '^ *(Failed|Unresolved|Timed Out|Unexpectedly Passed) *:' "$log" | awk -F: '{ sum += $2 } END { print sum + 0 }')
  [ "$status" -ne 0 ] && [ "$bad" = 0 ] && bad=1
  add "$good" "$bad"
  echo "lit: $good passed, $bad failed, $(count "$log" '^ *Unsupported *:') need hardware or tools that are not here"
  [ "$status" -eq 0 ] || grep -vE '^(PASS|UNSUPPORTED):' "$log"
  grep -E '^[0-9.]+s: tile ::' "$log" | sort -rn | head -10 >"$logs/slowest"
}

# check NAME COMMAND...: runs one test that passes or fails as a whole.
check() {
  local name=$1
  shift
  if "$@" >"$logs/check" 2>&1; then
    add 1 0
    echo "$name: passed"
  else
    add 0 1
    echo "$name: failed"
    cat "$logs/check"
  fi
}

repository_checks() {
  local name
  for name in check-layering check-docs check-skip check-features check-reference check-spdx check-results check-words; do
    check $name "$root/tools/dev/$name.sh" "$build"
  done
}

timed "unit tests" unit_tests
timed "lit tests" lit_tests
timed "checks of the repository" repository_checks
# Each commit runs a different share of the tests with one pass disabled.
[ "$mode" = --changed ] ||
  timed "share of the matrix of passes" check skip-matrix "$root/tools/dev/skip-matrix.sh" "$build" "$(git -C "$root" rev-parse HEAD 2>/dev/null || echo 0)"
[ "$mode" != --fuzz ] || timed "fuzzing" check fuzz "$root/tools/dev/fuzz.sh" --quick

printf '\ntime of each part:\n'
printf '  %s\n' "${times[@]}"
[ ! -s "$logs/slowest" ] || sed '1i slowest tests:' "$logs/slowest" | sed '2,$s/^/  /'
[ "$failed" -ne 0 ] || [ "$mode" = --changed ] || touch "$stamp"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
