#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Runs the small cases of edges.suite under compute-sanitizer, on a machine with a GPU: memcheck on all cases, racecheck
# and synccheck on the first case of each artifact. Prints what each tool found, and fails if any tool found something.
# API errors are not reported: libtilert counts a kernel's parameters by asking for one more until a driver older than
# CUDA 13.2 returns an error.
#   bench/suites/compile.sh build/bin/tilec sm_90a build/edges edges
#   bench/suites/sanitize.sh build/bin/tile-run build/edges
set -uo pipefail
run=$1 folder=$2
suite=$(cd "$(dirname "$0")" && pwd)/edges.suite
first=$(mktemp) failed=0
trap 'rm -f "$first"' EXIT
awk '!/^#/ && NF && !seen[$2]++' "$suite" >"$first"

# check TOOL SUITE
check() {
  local output
  if output=$(compute-sanitizer --tool "$1" --report-api-errors no --error-exitcode 9 "$run" run --suite "$2" --artifacts "$folder" --device=cuda --check 2>&1); then
    echo "$1: $(grep -E 'cases, ' <<<"$output")"
  else
    echo "$1: FAILED"
    grep -vE ': ok|^ok ' <<<"$output" | head -60
    failed=1
  fi
}
check memcheck "$suite"
check racecheck "$first"
check synccheck "$first"
exit $failed
