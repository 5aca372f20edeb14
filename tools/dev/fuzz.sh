#!/usr/bin/env bash
# fuzz.sh SECONDS [--update]: builds the fuzz target with sanitizers (build/fuzz) and runs it for that long from the corpus
# in test/fuzz/corpus. New inputs stay in build/fuzz/corpus, for the next run; --update adds the small ones that reach new code to the corpus.
# The last line is "fuzz: no finding ..." or where the finding lies and how to see it again; the exit code says which.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=$1
found=build/fuzz/corpus
findings=build/fuzz/findings
target=build/fuzz/bin/tile-fuzz-frontend

[ -f build/fuzz/build.ninja ] || cmake --preset fuzz >/dev/null
ninja -C build/fuzz --quiet tile-fuzz-frontend
mkdir -p "$found" "$findings"

# The sanitizers make frames several times larger than those that the limits of nesting are meant for.
ulimit -s 65536 2>/dev/null || true

if [ "${2:-}" = --update ]; then
  rm -rf build/fuzz/minimised
  mkdir build/fuzz/minimised
  # Small inputs are mutated best, and the repository stays small.
  find "$found" -type f -size -900c -exec cp -t build/fuzz/minimised {} +
  "$target" -set_cover_merge=1 -close_fd_mask=1 test/fuzz/corpus build/fuzz/minimised 2>&1 | tail -1
  exit
fi

log=build/fuzz/log
# Per input: one second, 1 GiB for all, 512 MiB at once, leaks are searched for. Inputs are at most 6000 bytes.
if "$target" -max_total_time="$seconds" -timeout=1 -rss_limit_mb=1024 -malloc_limit_mb=512 -detect_leaks=1 -max_len=6000 \
  -close_fd_mask=1 -print_final_stats=1 -artifact_prefix="$findings/" "$found" test/fuzz/corpus >"$log" 2>&1; then
  inputs=$(sed -nE 's/^stat::number_of_executed_units: *//p' "$log")
  echo "fuzz: no finding in $inputs inputs and $seconds s"
  exit
fi
grep -vE '^#[0-9]+|NEW_FUNC' "$log" | tail -60
finding=$(sed -nE 's/.*Test unit written to //p' "$log" | tail -1)
[ -n "$finding" ] && echo "fuzz: a finding is in $finding; see it again with: $target $finding"
exit 1
