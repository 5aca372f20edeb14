#!/usr/bin/env bash
# check-spdx.sh [--fix]: every source file names its licence in a line of its own; --fix adds it where it is missing: on top, behind
# "#!", and in .tile files at the end, so that places in messages and pages stay the same.
set -euo pipefail
cd "$(dirname "$0")/../.."
tag='SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception'
fix=false
[ "${1:-}" = --fix ] && fix=true # other words are the build folder, which all checks are given

# The line in the file's comments. Headers of the C API are C for all compilers.
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
    printf "\n\n%s\n" "$line" >>"$file" # as tilec format has it
  elif [[ $(head -c 2 "$file") == '#!' ]]; then
    sed -i "1a $line" "$file"
  else
    sed -i "1i $line" "$file"
  fi
}

# Tests of several files in one end in something of any language, and what others wrote stays as it is.
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
exit $status
