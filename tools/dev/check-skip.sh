#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# check-skip.sh [BUILD]: every optimisation pass of the pipeline is disabled once in test/Exec/skip-passes.test.
set -uo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build}
status=0
message=$($build/bin/tilec test/Driver/Inputs/add.mlir --disable=none 2>&1)
for pass in $(sed 's/.*the passes are //; s/,//g' <<<"$message"); do
  $build/bin/tilec test/Driver/Inputs/add.mlir --disable="$pass" --emit=nvvm -o /dev/null 2>/dev/null || continue
  grep -q -- "--disable=$pass " test/Exec/skip-passes.test || { echo "test/Exec/skip-passes.test does not disable $pass"; status=1; }
done
exit $status
