#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# changed-tests.sh: prints the lit tests that the changes of the working tree can reach, as a regular expression for
# `lit --filter`; without changes, those of the last commit. A changed test reaches itself, a library the folders of
# tests named here, and everything else all tests. `./run test --changed` uses it.
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
    # What few folders of tests use. Compiler, interpreter, simulator and tile-run are used by nearly all.
    lib/Distributed/*) reached+=(Distributed/ Package/) ;;
    lib/Explain/*) reached+=(Docs/ Driver/ Explain/ Package/) ;;
    lib/Jit/* | tools/libtilec/*) reached+=(Embed/ Package/) ;;
    lib/Verify/*) reached+=(Docs/ Driver/ Verify/) ;;
    *) reached+=(.) ;;
  esac
done <<<"$changed"

[[ " ${reached[*]-} " != *" . "* ]] || reached=(.)
# No test has this name.
[ "${#reached[@]}" -gt 0 ] || reached=('^none$')
printf '%s\n' "${reached[@]}" | sort -u | paste -sd '|'
