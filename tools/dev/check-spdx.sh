#!/usr/bin/env bash
# check-spdx.sh [--fix]: checks that every source file has a licence line. --fix adds missing ones at the top, after
# "#!", or, in .tile files, at the end, so that line numbers in messages and pages do not change.
set -euo pipefail
cd "$(dirname "$0")/../.."
tag='SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception'
fix=false
[ "${1:-}" = --fix ] && fix=true # the other possible argument is the build folder, which all checks receive

# Prints the licence line in the file's comment syntax. Headers of the C API use C comments for all compilers.
line_for() {
  case "$1" in
  *.c | include/tile/*.h) echo "/* $tag */" ;;
  *.cpp | *.h | *.td) echo "// $tag" ;;
  *) echo "# $tag" ;;
  esac
}

add() {
  local file=$1 line
  line=$(line_for "$file")
  if [[ $file == *.tile ]]; then
    [ -z "$(tail -c 1 "$file")" ] || echo >>"$file"
    printf "\n\n%s\n" "$line" >>"$file" # in the format of tilec format
  elif [[ $(head -c 2 "$file") == '#!' ]]; then
    sed -i "1a $line" "$file"
  else
    sed -i "1i $line" "$file"
  fi
}

# Split-file tests may end in any language, and third-party files must not be modified.
mapfile -t missing < <(git ls-files '*.cpp' '*.h' '*.td' '*.c' '*.tile' '*.sh' '*.cmake' '*CMakeLists.txt' |
  xargs -r grep -LE "^(//|#)?--- |Copyright \(c\)|SPDX-License-Identifier: MIT|$tag")
status=0
for file in "${missing[@]}"; do
  [ -s "$file" ] || continue
  if $fix; then
    add "$file"
  else
    echo "$file: has no line '$(line_for "$file")'; tools/dev/check-spdx.sh --fix adds it"
    status=1
  fi
done
# A comment that is wrapped again must not be joined with the licence line.
if git grep -nE "$tag +[^* ]" -- '*.cpp' '*.h' '*.td' '*.c' '*.def'; then
  echo "the licence must be on a line of its own"
  status=1
fi
exit $status
