#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# changed-tests.sh: prints a regular expression for `lit --filter` that selects the lit tests that may be affected by
# the changes in the working tree or, if it has none, by the changes of the last commit. A changed test selects itself,
# a changed library selects the folders of tests named below, and any other change selects all tests. `./run test
# --changed` uses this.
set -euo pipefail
cd "$(dirname "$0")/../.."

changed=$( (git diff --name-only HEAD && git ls-files --others --exclude-standard) | sort -u)
[ -n "$changed" ] || changed=$(git diff --name-only HEAD~1 HEAD)

reached=()
while read -r file; do
  case $file in
    *.md | bench/* | .github/* | tools/docs/*) reached+=(Docs/) ;;
    test/unit/* | test/fuzz/* | test/mutation/*) ;; # a program each, which is run if it was linked again
    test/*/Inputs/* | test/lit* | test/run-devices.sh) reached+=(.) ;;
    test/*.test | test/*.tile | test/*.mlir) reached+=("$(sed 's/[.+*]/\\&/g' <<<"${file#test/}")\$") ;;
    test/*/*) reached+=("$(cut -d/ -f2 <<<"$file")/") ;;
    # Components that few folders of tests use. Nearly all tests use the compiler, interpreter, simulator and tile-run.
    lib/Distributed/*) reached+=(Distributed/ Package/) ;;
    lib/Explain/*) reached+=(Docs/ Driver/ Explain/ Package/) ;;
    lib/Jit/* | tools/libtilec/*) reached+=(Embed/ Package/) ;;
    lib/Verify/*) reached+=(Docs/ Driver/ Verify/) ;;
    *) reached+=(.) ;;
  esac
done <<<"$changed"

[[ " ${reached[*]-} " != *" . "* ]] || reached=(.)
# No test has this name, so none is selected.
[ "${#reached[@]}" -gt 0 ] || reached=('^none$')
printf '%s\n' "${reached[@]}" | sort -u | paste -sd '|'
