#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# coverage.sh BUILD SECONDS: runs the fuzzer of whole kernels for so long, over its modes and with the same seeds each
# time, and prints how many lines of lib/Transforms and lib/Conversion it has reached, by file. Lines that were not
# reached are in BUILD/coverage/missed.txt.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$(cd "$1" && pwd) seconds=$2
folder=$build/coverage fuzzer=$build/bin/tile-fuzz-kernels-coverage
export PATH=/usr/lib/llvm-22/bin:$PATH
ninja -C "$build" --quiet tile-fuzz-kernels-coverage
rm -rf "$folder"
mkdir -p "$folder"

# run NAME SHARE OPTION...: for a share of the time, in percent. Findings are not what this is about.
run() {
  local name=$1 share=$2
  shift 2
  # %c: counters are in the file as they change, those of processes that die as well.
  LLVM_PROFILE_FILE=$folder/$name-%c.profraw "$fuzzer" --seconds $((seconds * share / 100 + 1)) --jobs "$(nproc)" \
    --no-reduce --findings "$folder/findings" "$@" >>"$folder/log" || true
}

run random 40
run loops 20 --loops
run mutants 40 --mutate examples,test/Exec

llvm-profdata merge "$folder"/*.profraw -o "$folder/all.profdata"

# Functions that other libraries have compiled without counters as well make a warning.
coverage() {
  llvm-cov "$@" "$fuzzer" -instr-profile="$folder/all.profdata" -compilation-dir="$PWD" \
    -sources "$PWD/lib/Transforms" "$PWD/lib/Conversion" 2>"$folder/warnings"
}
coverage show | grep -E '^/|^ +[0-9]+\| +0\|' >"$folder/missed.txt"
coverage report --show-region-summary=false --show-branch-summary=false
