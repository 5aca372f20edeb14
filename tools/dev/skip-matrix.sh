#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# skip-matrix.sh [BUILD [HASH]]: runs every execution test once for each optimisation pass, with that pass disabled
# (takes hours). With a commit hash, runs a tenth of the tests with one pass disabled; the hash selects the tests and
# the pass.
set -uo pipefail
cd "$(dirname "$0")/../.."
build=$(cd "${1:-build}" && pwd) hash=${2:-}
export PATH=/usr/lib/llvm-22/bin:$PATH
mapfile -t passes < <(tools/dev/list-optimisations.sh "$build")
[ "${#passes[@]}" -gt 0 ] || { echo "skip-matrix.sh: $build/bin/tilec lists no passes"; exit 1; }
options=(--order=lexical --quiet --filter=Exec/)
if [ -n "$hash" ]; then
  number=$((16#${hash:0:8}))
  options+=(--num-shards=10 --run-shard=$((number / ${#passes[@]} % 10 + 1)))
  passes=("${passes[number % ${#passes[@]}]}")
fi
status=0
for pass in "${passes[@]}"; do
  echo "without $pass"
  lit "$build/test" "${options[@]}" --param disable="$pass" -v || status=1
done
exit $status
