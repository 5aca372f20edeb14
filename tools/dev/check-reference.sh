#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# check-reference.sh [BUILD]: checks that the generated reference (ninja docs-reference) has a summary and a description
# for each operation, type, attribute and pass, and that operations, passes and files named in descriptions exist.
set -uo pipefail
cd "$(dirname "$0")/../.."
docs=${1:-build}/docs
status=0
complain() {
  echo "$1"
  status=1
}
[ -f "$docs/README.md" ] || { echo "$docs/README.md is not there; build docs-reference"; exit 1; }

# Sections: "heading<TAB>has a summary<TAB>has a description". Enumerations are described by their cases.
while IFS=$'\t' read -r name summary description; do
  [ "$summary" = 1 ] || complain "$name has no summary"
  [ "$description" = 1 ] || complain "$name has no description"
done < <(awk '
  function flush() { if (name && !isEnum) print name "\t" summary "\t" description }
  FNR == 1 { flush(); name = ""; isEnum = 0 }
  /^## / { flush(); name = ""; isEnum = /Enums/; next }
  /^### / { flush(); name = $2; gsub(/`/, "", name); summary = description = done = inCode = 0; next }
  /^```/ { inCode = !inCode }
  /^(####|Traits:|Interfaces:|Effects:|Example:|Syntax:)/ { done = !/^Syntax:/ }
  !name || inCode || done { next }
  /^_[A-Z0-9`].*_$/ && !summary { summary = 1; next }
  /^[A-Za-z0-9`"][^\t]*[A-Za-z]/ && summary && !/^Syntax:/ { description = 1 }
  END { flush() }' "$docs"/tile.md "$docs"/cta.md "$docs"/passes.md)

known=$(grep -hoE '^### `[^`]+`' "$docs"/*.md | tr -d '#` ' | sed 's/^-//')
# Attributes of modules, kernels and arguments, whose names look like those of operations.
attributes=$(grep -rhoE '"(tile|cta)\.[a-z0-9_]+"' lib dialects --include='*.h' --include='*.cpp' --include='*.td' | tr -d '"')
prose=$(awk '/^```/ { inCode = !inCode } !inCode && !/^#|^Interfaces|^Effects|^Traits/' "$docs"/tile.md "$docs"/cta.md "$docs"/passes.md)
for name in $(grep -oE '`(tile|cta)\.[a-z0-9_]+`' <<<"$prose" | tr -d '`' | sort -u); do
  grep -qxF -- "$name" <<<"$known
$attributes" || complain "a description refers to '$name', which is neither an operation nor an attribute"
done
for name in $(grep -oE '\b(tile|cta|nvvm)-[a-z]+(-[a-z0-9]+)*\b' <<<"$prose" | sort -u); do
  grep -qxF -- "$name" <<<"$known" || complain "a description refers to '$name', which is not a pass"
done
for path in $(grep -oE '\b(lib|dialects|test|examples|bench)/[A-Za-z0-9_./-]+' <<<"$prose" | sed 's/[.,]*$//' | sort -u); do
  [ -e "$path" ] || complain "a description refers to $path, which does not exist"
done
# Links must lead to existing headings. grep must read its whole input, so it has no -q: ending early would break the
# pipe from the preceding command.
while IFS='#' read -r page anchor; do
  grep -E '^#' "$docs/$page" | sed -E 's/^#+ //' | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9_\n-' | grep -xF -- "$anchor" >/dev/null ||
    complain "a link leads to $page#$anchor, which does not exist"
done < <(grep -hoE '\]\([a-z]+\.md#[^)]+\)' "$docs"/*.md | tr -d '])(' | sort -u)
exit $status
