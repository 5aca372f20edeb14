#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Checks that documentation is complete: every pass states its contract, has an existing example test and a row in the
# table of passes; every operation has an example and occurs in a test; every warning is in the table of warnings;
# READMEs, source files and lines of pages and TableGen files respect their size limits.
set -uo pipefail
cd "$(dirname "$0")/../.."
status=0
complain() {
  echo "$1"
  status=1
}

# Descriptions of passes: from `def X : ...Pass<"flag"` to the next definition.
while IFS='|' read -r flag kind text; do
  for word in Requires Ensures Example; do
    [[ $text == *"$word:"* ]] || complain "pass $flag: no '$word:' in its description"
  done
  example=$(grep -oE 'Example: *[^ ]+' <<<"$text" | sed -E 's/Example: *//; s/\.$//')
  [ -z "$example" ] || [ -f "$example" ] || complain "pass $flag: the example $example does not exist"
  [[ $flag != tile-* && $flag != cta-* ]] || grep -qF "\`$flag\`" lib/Transforms/README.md || complain "pass $flag: lib/Transforms/README.md does not name it"
  [[ $flag != tile-* && $flag != cta-* || -z $kind ]] || grep -qF "\`$flag\` | ${kind:0:1} |" lib/Transforms/README.md ||
    complain "pass $flag: of kind $kind, which the table of lib/Transforms/README.md does not say"
done < <(awk '
  /^def .*Pass</ {
    if (flag) print flag "|" kind "|" text
    match($0, /"[^"]+"/); flag = substr($0, RSTART + 1, RLENGTH - 2); text = ""
    kind = match($0, /Correctness|Optimisation/) ? substr($0, RSTART, RLENGTH) : ""
  }
  { text = text " " $0 }
  END { if (flag) print flag "|" kind "|" text }' $(find lib -name Passes.td | sort))

# Operations, declared as `def Tile_XOp : ...<"mnemonic"`.
for dialect in Tile Cta; do
  [ -d dialects/$dialect ] || continue
  lower=${dialect,,}
  while IFS=$'\t' read -r mnemonic text; do
    [[ $text == *Example:* ]] || complain "$lower.$mnemonic: no example in its description"
    grep -rqE "\b$lower\.$mnemonic\b" test --include='*.mlir' || complain "$lower.$mnemonic: occurs in no test"
  done < <(awk -v dialect="$dialect" '
    /^(def|class) / { if (name) print name "\t" text; name = "" }
    $0 ~ "^def " dialect "_[A-Za-z0-9]+Op " && match($0, /<"[a-z0-9_]+"/) { name = substr($0, RSTART + 2, RLENGTH - 3); text = "" }
    { gsub(/\t/, " "); text = text " " $0 }
    END { if (name) print name "\t" text }' dialects/$dialect/*.td)
done

# Warnings: each has a row with the group and the default of the table that the compiler is built from.
while IFS=, read -r id group enabled rest; do
  [ "$enabled" = " true" ] && default=on || default=off
  grep -qF "| \`-W${id//_/-}\` |$group | $default |" lib/Frontend/Syntax/Warnings.md ||
    complain "warning ${id//_/-}: lib/Frontend/Syntax/Warnings.md has no row with group$group and default $default"
done < <(sed -n 's/^TILE_WARNING(//p' lib/Frontend/Syntax/Warnings.def)
[ "$(grep -c '^TILE_WARNING(' lib/Frontend/Syntax/Warnings.def)" = "$(grep -c '^| `-W' lib/Frontend/Syntax/Warnings.md)" ] ||
  complain "lib/Frontend/Syntax/Warnings.md has a row that is not a warning"

while read -r lines file; do
  [ "$lines" -le 150 ] || complain "$file: $lines lines; a README has at most 150"
done < <(git ls-files '*README.md' | xargs -r wc -l | grep -v ' total$')
while read -r lines file; do
  [ "$lines" -le 500 ] || complain "$file: $lines lines; a source file has at most 500"
done < <(git ls-files 'lib/*.h' 'lib/*.cpp' 'lib/*.def' 'lib/*.td' 'dialects/*.td' 'dialects/*.cpp' 'tools/*.cpp' 'include/*.h' | xargs -r wc -l | grep -v ' total$')
while IFS= read -r place; do
  complain "$place has more than 120 columns"
done < <(git ls-files '*.td' | LC_ALL=C.UTF-8 xargs -r grep -nE '^.{121}' | cut -d: -f1,2)
# Lines of pages, except for tables and for fenced blocks, which quote sources and output.
while IFS= read -r place; do
  complain "$place has more than 120 columns"
done < <(git ls-files '*.md' | xargs -r awk 'FNR == 1 { inCode = 0 } /^ *```/ { inCode = !inCode } !inCode && !/^ *\|/ { print FILENAME ":" FNR ":" $0 }' |
  LC_ALL=C.UTF-8 grep -E '^[^:]+:[0-9]+:.{121}' | cut -d: -f1,2)
exit $status
