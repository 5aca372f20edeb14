#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# check-skip.sh [BUILD]: every optimisation pass of the pipeline is disabled once in test/Exec/skip-passes.test.
set -uo pipefail
cd "$(dirname "$0")/../.."
status=0
for pass in $(tools/dev/list-optimisations.sh "${1:-build}"); do
  grep -q -- "--disable=$pass " test/Exec/skip-passes.test || { echo "test/Exec/skip-passes.test does not disable $pass"; status=1; }
done
exit $status
