#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# make-reference.sh OUT TILE CTA TRANSFORMS CONVERSION: writes the reference of the IR to the folder OUT, from
# mlir-tblgen's documentation of both dialects and of the passes. It adds an index, and turns names of operations and
# passes into links.
set -euo pipefail
out=$1 tile=$2 cta=$3
shift 3
mkdir -p "$out"

# The target and summary of each name: "name<TAB>page#anchor<TAB>summary". Anchors follow GitHub: lower case, without
# punctuation, '-' for a space.
names=$(mktemp)
trap 'rm -f "$names"' EXIT
list() {
  awk -v page="$1" '
    /^### / {
      name = $2; gsub(/`/, "", name); sub(/^-/, "", name)
      anchor = tolower(substr($0, 5)); gsub(/[^a-z0-9 _-]/, "", anchor); gsub(/ /, "-", anchor)
      next
    }
    name && /^_.*_$/ { print name "\t" page "#" anchor "\t" substr($0, 2, length($0) - 2); name = "" }' "${@:2}"
}
{ list tile.md "$tile"; list cta.md "$cta"; list passes.md "$@"; } >"$names"

# Turns names in backquotes into links, except in headings and code.
link() {
  awk -F '\t' '
    FNR == NR { target[$1] = $2; next }
    /^```/ { inCode = !inCode }
    inCode || /^#/ || /^Example:/ || /tblgen/ { if (!/tblgen/) print; next }
    {
      rest = $0; line = ""
      while (match(rest, /`[^`]+`/)) {
        name = substr(rest, RSTART + 1, RLENGTH - 2)
        text = name in target ? "[`" name "`](" target[name] ")" : "`" name "`"
        line = line substr(rest, 1, RSTART - 1) text
        rest = substr(rest, RSTART + RLENGTH)
      }
      print line rest
    }' "$names" -
}
index() { awk -F '\t' -v page="$1" 'index($2, page "#") == 1 && $1 ~ /[.-]/ { print "| [`" $1 "`](" $2 ") | " $3 " |" }' "$names"; }

link <"$tile" | sed '/^\[TOC\]$/d' >"$out/tile.md"
link <"$cta" | sed '/^\[TOC\]$/d' >"$out/cta.md"
{
  printf '# Passes\n\nIn alphabetical order; lib/Pipeline/GpuPipeline.cpp has the order in which they run.\n\n'
  cat "$@" | link
} >"$out/passes.md"
{
  printf '# Reference\n\nGenerated from the .td files. How the dialects and the phases of a kernel hang together: dialects/README.md.\n'
  printf '\n## [Dialect tile](tile.md): what a program computes\n\n| operation | |\n|---|---|\n'
  index tile.md
  printf '\n## [Dialect cta](cta.md): how a thread block computes it\n\n| operation | |\n|---|---|\n'
  index cta.md
  printf '\n## [Passes](passes.md)\n\n| pass | |\n|---|---|\n'
  index passes.md
} >"$out/README.md"
