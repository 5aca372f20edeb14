#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# run-tests.sh [BUILD [SECONDS]]: unit tests, lit tests, the repository's own checks, and fuzzing for so many seconds.
# The last line is "N passed, N failed"; the exit code says whether something failed.
set -uo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:-$root/build}" && pwd)
fuzz_seconds=${2:-0}
passed=0
failed=0

# count LOG PATTERN: the first number in the first line that matches.
count() { grep -E "$2" "$1" | grep -oE '[0-9]+' | head -1 || true; }

log=$(mktemp)
trap 'rm -f "$log"' EXIT

for test in "$build"/test/unit/*/*_tests; do
  [ -x "$test" ] || continue
  "$test" --gtest_brief=1 >"$log" 2>&1
  status=$?
  good=$(count "$log" '^\[  PASSED  \] [0-9]+ test')
  bad=$(count "$log" '^ *[0-9]+ FAILED TEST')
  # A test program that dies has failed at least once.
  [ "$status" -ne 0 ] && [ -z "$bad" ] && bad=1
  passed=$((passed + ${good:-0}))
  failed=$((failed + ${bad:-0}))
  echo "$(basename "$test"): ${good:-0} passed, ${bad:-0} failed"
  [ "$status" -ne 0 ] && cat "$log"
done

lit=$(PATH=/usr/lib/llvm-22/bin:$PATH command -v lit || true)
if [ -n "$lit" ]; then
  "$lit" "$build/test" --order=lexical -v --show-unsupported >"$log" 2>&1
  status=$?
  good=$(count "$log" '^ *Passed *:')
  bad=$(grep -E '^ *(Failed|Unresolved|Timed Out|Unexpectedly Passed) *:' "$log" | awk -F: '{ sum += $2 } END { print sum + 0 }')
  [ "$status" -ne 0 ] && [ "${bad:-0}" = 0 ] && bad=1
  passed=$((passed + ${good:-0}))
  failed=$((failed + ${bad:-0}))
  unsupported=$(count "$log" '^ *Unsupported *:')
  echo "lit: ${good:-0} passed, ${bad:-0} failed, ${unsupported:-0} need hardware or tools that are not here"
  [ "$status" -ne 0 ] && grep -vE '^(PASS|UNSUPPORTED):' "$log"
else
  echo "lit: not found in /usr/lib/llvm-22/bin"
  failed=$((failed + 1))
fi

for check in check-layering check-docs check-skip check-features check-reference check-spdx; do
  if "$root/tools/dev/$check.sh" "$build" >"$log" 2>&1; then
    passed=$((passed + 1))
    echo "$check: passed"
  else
    failed=$((failed + 1))
    echo "$check: failed"
    cat "$log"
  fi
done

# Another share of the matrix for each commit.
if "$root/tools/dev/skip-matrix.sh" "$build" "$(git -C "$root" rev-parse HEAD 2>/dev/null || echo 0)" >"$log" 2>&1; then
  passed=$((passed + 1))
  echo "skip-matrix: passed $(head -1 "$log")"
else
  failed=$((failed + 1))
  echo "skip-matrix: failed"
  cat "$log"
fi

if [ "$fuzz_seconds" -gt 0 ]; then
  if "$root/tools/dev/fuzz.sh" "$fuzz_seconds" --quick >"$log" 2>&1; then
    passed=$((passed + 1))
    tail -1 "$log"
  else
    failed=$((failed + 1))
    echo "fuzz: failed"
    cat "$log"
  fi
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
