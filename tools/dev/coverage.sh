#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# coverage.sh BUILD SECONDS: runs the whole-kernel fuzzer for SECONDS, in all its modes with fixed seeds, and prints the
# line coverage of lib/Transforms and lib/Conversion by file. Unreached lines are listed in BUILD/coverage/missed.txt.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$(cd "$1" && pwd) seconds=$2
folder=$build/coverage fuzzer=$build/bin/tile-fuzz-kernels-coverage
export PATH=/usr/lib/llvm-22/bin:$PATH
ninja -C "$build" --quiet tile-fuzz-kernels-coverage
rm -rf "$folder"
mkdir -p "$folder"

# run NAME SHARE OPTION...: runs for a share of the time, in percent. Findings are ignored.
run() {
  local name=$1 share=$2
  shift 2
  # %c: continuous mode, so that processes that die keep their counters.
  LLVM_PROFILE_FILE=$folder/$name-%c.profraw "$fuzzer" --seconds $((seconds * share / 100 + 1)) --jobs "$(nproc)" \
    --no-reduce --findings "$folder/findings" "$@" >>"$folder/log" || true
}

run random 40
run loops 20 --loops
run mutants 40 --mutate examples,test/Exec

llvm-profdata merge "$folder"/*.profraw -o "$folder/all.profdata"

# Functions that are also compiled in other libraries, without counters, cause a warning.
coverage() {
  llvm-cov "$@" "$fuzzer" -instr-profile="$folder/all.profdata" -compilation-dir="$PWD" \
    -sources "$PWD/lib/Transforms" "$PWD/lib/Conversion" 2>"$folder/warnings"
}
coverage show | grep -E '^/|^ +[0-9]+\| +0\|' >"$folder/missed.txt"
coverage report --show-region-summary=false --show-branch-summary=false
