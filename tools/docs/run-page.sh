#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# run-page.sh PAGE.md WORK BUILD: does what a page tells its reader to do, in the folder WORK, in which `examples`, `include` and `build` are those
# of the project. The words after the language of a fenced block say what it is:
#
#   ```python file=scale.tile      the block is a file, for the commands that follow
#   ```python from=examples/x.py   the block is a part of that file of the repository
#   ```console                     "$ COMMAND" is run and must succeed; what follows is its output, if the page shows any
#   ```console fails               the same for commands that end with an error
#
# In output "..." stands for anything. Other blocks are not looked at.
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

# The text with all that is special in a pattern escaped, but "...", which becomes "*".
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

# Does what a whole block says.
finish() {
  local words=" ${info#* } " command="" expected="" fails=0 text
  [ "$info" != "${info#* }" ] || words=" "
  case "$info" in
  console*)
    [[ $words == *" fails "* ]] && fails=1
    while IFS= read -r text; do
      if [[ $text == '$ '* ]]; then
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
