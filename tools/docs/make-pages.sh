#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# make-pages.sh BUILTIN_REFERENCE OUT: writes the reference pages that are generated from tables and headers, as
# Markdown, to the folder OUT: functions (with the program BUILTIN_REFERENCE), diagnostics, and the C API.
set -euo pipefail
builtin_reference=$1
out=$2
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$out"

"$builtin_reference" >"$out/builtins.md"

# Diagnostics.def has TILE_DIAGNOSTIC(id, severity, "message" "more") over one or more lines, under headings between
# dashes. Examples come from the tests.
examples=$(find "$root"/test/{Frontend,Lint,Tile1,Driver} -name '*.tile' -o -name '*.test' | LC_ALL=C sort |
  xargs awk -f "$root/tools/docs/diagnostic-examples.awk")
{
  printf '# Diagnostics\n\nEvery message of the front end with the name that it has in JSON and SARIF (`--diagnostics-format`), and an example '
  printf 'from the tests: a line of source, and the message for it. `{0}`, `{1}`, … stand for names, types and numbers of the program. '
  printf 'How to fix an error, if one fix is likely, follows the semicolon. Which warnings are on, and how to turn them on and off: '
  printf '[Warnings.md](lib/Frontend/Syntax/Warnings.md).\n'
  awk -F '\t' '
    FNR == NR { source[$1] = $2; message[$1] = $3; next }
    /^\/\/ -+ / { heading = $0; gsub(/^\/\/ -+ | -+.*$| \(.*\)/, "", heading); printf "\n## %s\n", toupper(substr(heading, 1, 1)) substr(heading, 2); next }
    /^TILE_(OPTION_)?DIAGNOSTIC\(/ { entry = ""; open = 1 }
    open { line = $0; sub(/^ +/, "", line); entry = entry line " " }
    open && /\)$/ {
      open = 0
      severity = entry ~ /^TILE_OPTION/ ? "error" : entry ~ /, Warning,/ ? "warning" : entry ~ /, Note,/ ? "note" : "error"
      id = entry; sub(/^[^(]*\(/, "", id); sub(/,.*/, "", id); gsub(/_/, "-", id)
      text = substr(entry, index(entry, "\"") + 1); sub(/"\) *$/, "", text); gsub(/" "/, "", text); gsub(/\\"/, "\"", text)
      text = severity ": " text
      printf "\n### `%s`\n\n```\n%s\n```\n", id, text
      example = source[id]
      if (message[id] != "" && message[id] != text) example = example (example == "" ? "" : "\n") message[id]
      if (example != "") printf "\nExample:\n\n```\n%s\n```\n", example
    }' - "$root/lib/Frontend/Syntax/Diagnostics.def" <<<"$examples"
} >"$out/diagnostics.md"

# Describes a header: its first comment, then each comment with the declarations that follow it.
describe_header() {
  awk -v name="$1" '
    function flush() {
      if (code != "") {
        heading = code
        if (match(code, /\n\} [A-Za-z_]+;/)) heading = substr(code, RSTART + 3, RLENGTH - 4)
        else if (match(code, /(tile|tilec)_[a-z0-9_]+ *\(/)) heading = substr(code, RSTART, RLENGTH - 1)
        else if (match(code, /(define|struct|class) [A-Za-z_]+/)) { heading = substr(code, RSTART, RLENGTH); sub(/^[a-z]+ /, "", heading) }
        else if (match(code, /\(\*[a-z_]+\)/)) heading = substr(code, RSTART + 2, RLENGTH - 3)
        else { sub(/;.*/, "", heading); sub(/.* \*?/, "", heading) }
        printf "\n### `%s`\n\n```c\n%s```\n", heading, code
      }
      if (text != "") printf "\n%s\n", text
      code = ""; text = ""
    }
    function start(line) { comment = ""; inComment = 1; take(line) }
    function take(line,   ends) {
      ends = line ~ /\*\// ; sub(/^\/\* ?/, "", line); sub(/ *\*\/.*$/, "", line)
      if (!seenFirst) { sub(/^ \* ?/, "", line); if (line ~ /^  /) line = "  " line } # an example
      else sub(/^ +/, "", line)
      comment = comment line "\n"
      if (ends) {
        inComment = 0
        if (!seenFirst) { seenFirst = 1; printf "\n## %s\n\n%s", name, comment } else { flush(); text = comment }
      }
    }
    inComment { take($0); next }
    /^\/\*/ { start($0); next }
    !seenFirst || /^#(if|else|endif|include|define TILE[A-Z]*_(H|API|TILERT_H|JIT_H|TILEC_H))/ || /^extern "C"|^}$/ { next }
    /^$/ { if (depth == 0) flush(); next }
    {
      code = code $0 "\n"
      depth += gsub(/\{/, "{") - gsub(/\}/, "}")
      # A declaration ends with a semicolon; the next one gets a separate heading if no comment precedes it.
      if (depth == 0 && (/;( *\/\*.*)?$/ || /^#define/)) { held = text; flush() }
    }
    END { flush() }' "$root/include/tile/$1"
}
{
  printf '# C API\n\nFrom the headers in `include/tile`. `Compiler.h` is `tilec.h` for C++. Three libraries: `libtilert` launches, `libtilec` compiles, `libtilejit` does both.\n'
  for header in tilert.h tilec.h jit.h; do
    describe_header $header
  done
} >"$out/api.md"
