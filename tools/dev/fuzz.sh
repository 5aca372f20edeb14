#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# fuzz.sh SECONDS [--update]: builds the fuzz targets with sanitizers (build/fuzz) and runs them for SECONDS, starting
# from the corpora in test/fuzz. Half of the time is spent on the front end (corpus), one twelfth each on the PTX parser
# (ptx) and libtilert (artifact), and a third on the passes, with mutated IR from the examples and tests. Then it runs
# random whole kernels with the compiler of build/ for another SECONDS, using different seeds for each commit. Finally,
# for a tenth of SECONDS, it runs random kernels for the front end and compares their results with Python
# (test/Reference). New inputs stay in build/fuzz/corpus, ptx and artifact for the next run; --update adds the small
# ones that reach new code to the corpora.
# fuzz.sh --quick: runs a short version for a minute or two without sanitizers, as ./run test does: the corpora, and
# mutants and kernels from fixed seeds.
# The last line is "fuzz: no finding ..." or the location of the finding and how to reproduce it. The exit code is
# nonzero if there is a finding.
set -euo pipefail
cd "$(dirname "$0")/../.."
[ -f build/build.ninja ] || cmake --preset dev >/dev/null
ir_bases=(examples test/Exec test/Transforms test/Dialect test/Conversion)

# fuzz_kernels FOLDER SEED OPTION...
fuzz_kernels() {
  local folder=$1 seed=$2
  shift 2
  build/bin/tile-fuzz-kernels --seed "$seed" --jobs "$(nproc)" --first --findings "$folder/kernels" "$@" || {
    echo "fuzz: a finding is in $folder/kernels; see test/fuzz/README.md"
    return 1
  }
}

quick() {
  local bin=$PWD/build/bin folder=build/fuzz-quick log target corpus
  ninja -C build --quiet tile-fuzz-frontend tile-fuzz-ptx tile-fuzz-artifact tile-fuzz-ir tile-fuzz-kernels
  rm -rf "$folder"
  mkdir -p "$folder"
  # Mutants and kernels follow from the seeds, so these find what a change breaks, not more with each run; `fuzz.sh
  # SECONDS` tries others for each commit. The first 12 kernels and 6 loops are in test/Exec/fuzz-kernels.test.
  # TARGET CORPUS MUTANTS, two in parallel.
  printf '%s\n' 'frontend corpus 4000' 'ptx ptx 10000' 'artifact artifact 2000' |
    (cd "$folder" && xargs -P "$(nproc)" -L1 sh -c '"$0/tile-fuzz-$2" --mutants="$4" "$1/$3" >"$2.log" 2>&1 || { tail -40 "$2.log"; exit 255; }' "$bin" ../../test/fuzz)
  build/bin/tile-fuzz-ir --seed=1 --mutants=2000 --jobs="$(nproc)" --findings="$folder/ir" "${ir_bases[@]}"
  fuzz_kernels "$folder" 7 --count 20 --loops
  fuzz_kernels "$folder" 13 --count 50
  fuzz_kernels "$folder" 1 --count 15 --mutate examples,test/Exec
  echo "fuzz: no finding"
}

if [ "$1" = --quick ]; then
  quick
  exit
fi

seconds=$1
findings=build/fuzz/findings
seed=$((16#$(git rev-parse --short=7 HEAD 2>/dev/null || echo 1) * 100000))
[ -f build/fuzz/build.ninja ] || cmake --preset fuzz >/dev/null
ninja -C build/fuzz --quiet tile-fuzz-frontend tile-fuzz-ptx tile-fuzz-artifact tile-fuzz-ir
ninja -C build --quiet tile-fuzz-kernels tilec
mkdir -p "$findings"

# Sanitizers make stack frames several times larger than the nesting limits assume.
ulimit -s 65536 2>/dev/null || true

# update TARGET CORPUS
update() {
  rm -rf build/fuzz/minimised
  mkdir build/fuzz/minimised
  # Small inputs are best for mutation, and keep the repository small.
  find "build/fuzz/$2" -type f -size -900c -exec cp -t build/fuzz/minimised {} +
  "$1" -set_cover_merge=1 -close_fd_mask=1 "test/fuzz/$2" build/fuzz/minimised 2>&1 | tail -1
}

# fuzz TARGET CORPUS SECONDS: adds the number of inputs to `inputs`, or exits with the finding.
inputs=0
fuzz() {
  local log=build/fuzz/log finding
  mkdir -p "build/fuzz/$2"
  # Limits: one second per input, 1 GiB in total, 512 MiB per allocation, inputs of at most 6000 bytes. Leaks are
  # detected.
  if "$1" -max_total_time="$3" -timeout=1 -rss_limit_mb=1024 -malloc_limit_mb=512 -detect_leaks=1 -max_len=6000 \
    -close_fd_mask=1 -print_final_stats=1 -artifact_prefix="$findings/" "build/fuzz/$2" "test/fuzz/$2" >"$log" 2>&1; then
    inputs=$((inputs + $(sed -nE 's/^stat::number_of_executed_units: *//p' "$log")))
    return
  fi
  grep -vE '^#[0-9]+|NEW_FUNC' "$log" | tail -60
  finding=$(sed -nE 's/.*Test unit written to //p' "$log" | tail -1)
  [ -n "$finding" ] && echo "fuzz: a finding is in $finding; see it again with: $1 $finding"
  exit 1
}

bin=build/fuzz/bin
if [ "${2:-}" = --update ]; then
  update $bin/tile-fuzz-frontend corpus
  update $bin/tile-fuzz-ptx ptx
  update $bin/tile-fuzz-artifact artifact
  exit
fi
fuzz $bin/tile-fuzz-frontend corpus $((seconds - seconds / 6 - seconds / 3))
# libFuzzer would run forever with a time of 0.
fuzz $bin/tile-fuzz-ptx ptx $((seconds / 12 + 1))
fuzz $bin/tile-fuzz-artifact artifact $((seconds / 12 + 1))
if ! $bin/tile-fuzz-ir --seed="$seed" --seconds=$((seconds / 3)) --jobs="$(nproc)" --findings="$findings/ir" \
  "${ir_bases[@]}" >build/fuzz/log 2>&1; then
  cat build/fuzz/log
  exit 1
fi
inputs=$((inputs + $(sed -nE 's/^tile-fuzz-ir: ([0-9]+) mutants.*/\1/p' build/fuzz/log)))
fuzz_kernels "$findings" "$seed" --seconds $((seconds / 5)) --loops
fuzz_kernels "$findings" "$seed" --seconds $((seconds / 5)) --mutate examples,test/Exec
fuzz_kernels "$findings" "$seed" --seconds $((seconds - seconds / 5 * 2)) | tee build/fuzz/log
if ! python3 -B test/Reference/fuzz.py --tilec=build/bin/tilec --seed="$seed" --seconds=$((seconds / 10 + 1)) \
  --findings="$findings/reference"; then
  echo "fuzz: a finding is in $findings/reference; see test/Reference/README.md"
  exit 1
fi
echo "fuzz: no finding in $inputs inputs and $seconds s; $(tail -1 build/fuzz/log)"
