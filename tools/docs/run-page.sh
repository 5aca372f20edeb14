#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# run-page.sh PAGE.md WORK BUILD: follows the instructions of a page in the folder WORK, where `examples`, `include` and
# `build` refer to those of the project. The words after the language of a fenced block specify its use:
#
#   ```python file=scale.tile      writes the block to a file, for the commands that follow
#   ```python from=examples/x.py   checks that the block is a part of that file of the repository
#   ```console                     runs "$ COMMAND", which must succeed and print the output that follows, if any; a
#                                  command that ends with '\' continues on the next line
#   ```console fails               likewise for commands that must fail
#
# "..." in the output matches anything. Other blocks are ignored.
set -uo pipefail
page=$(realpath "$1")
work=$2
build=$(realpath "$3")
root=$(cd "$(dirname "$0")/../.." && pwd)
rm -rf "$work"
mkdir -p "$work"
cd "$work"
ln -s "$root/examples" examples
ln -s "$root/include" include
ln -s "$build" build
export PATH=$build/bin:$PATH
failures=0
complain() {
  printf '%s:%s: %s\n' "$page" "$line" "$1"
  failures=$((failures + 1))
}

# Escapes the special characters of a pattern, except "...", which becomes "*".
pattern() { sed -e 's/[][\\*?]/\\&/g' -e 's/\.\.\./*/g' <<<"$1"; }

run() { # run COMMAND EXPECTED FAILS
  local actual status
  actual=$(bash -c "$1" 2>&1)
  status=$?
  if [ "$3" = 1 ] && [ $status -eq 0 ]; then
    complain "'$1' succeeds"
  elif [ $status -gt 125 ] || { [ "$3" = 0 ] && [ $status -ne 0 ]; }; then
    complain "'$1' ends with $status: $actual"
  elif [ -n "$2" ] && [[ $actual != $(pattern "$2") ]]; then
    complain "'$1' prints"$'\n'"$actual"$'\n'"and not"$'\n'"$2"
  fi
}

# Processes a complete block.
finish() {
  local words=" ${info#* } " command="" expected="" fails=0 text
  [ "$info" != "${info#* }" ] || words=" "
  case "$info" in
  console*)
    [[ $words == *" fails "* ]] && fails=1
    while IFS= read -r text; do
      if [[ $command == *\\ && -z $expected ]]; then
        command+=$'\n'$text
      elif [[ $text == '$ '* ]]; then
        [ -z "$command" ] || run "$command" "$expected" "$fails"
        command=${text#\$ } expected=""
      else
        expected+=${expected:+$'\n'}$text
      fi
    done <<<"$block"
    [ -z "$command" ] || run "$command" "$expected" "$fails"
    ;;
  *' file='*)
    text=${words#* file=}
    printf '%s\n' "$block" >"${text%% *}"
    ;;
  *' from='*)
    text=${words#* from=}
    [[ $(<"$root/${text%% *}") == *"$block"* ]] || complain "the block is not part of ${text%% *}"
    ;;
  esac
}

line=0 info="" block="" open=0
while IFS= read -r text; do
  line=$((line + 1))
  if [[ $text == '```'* ]]; then
    if [ $open = 0 ]; then
      open=1 info=${text#'```'} block=""
    else
      open=0
      finish
    fi
  elif [ $open = 1 ]; then
    block+=${block:+$'\n'}$text
  fi
done <"$page"
[ $failures -eq 0 ]
