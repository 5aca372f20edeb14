#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# check-skip.sh [BUILD]: checks that test/Exec/skip-passes.test disables every optimisation pass of the pipeline once.
set -uo pipefail
cd "$(dirname "$0")/../.."
status=0
for pass in $(tools/dev/list-optimisations.sh "${1:-build}"); do
  grep -q -- "--disable=$pass " test/Exec/skip-passes.test || { echo "test/Exec/skip-passes.test does not disable $pass"; status=1; }
done
exit $status
