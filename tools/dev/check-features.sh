#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# check-features.sh: checks that every line of test/features.txt names an existing test that contains the text showing
# its feature.
set -uo pipefail
cd "$(dirname "$0")/../.."
status=0
complain() { echo "test/features.txt: $1"; status=1; }
declare -A seen
while IFS= read -r line; do
  [[ $line == "" || $line == "#"* ]] && continue
  feature=${line%% -> *}
  rest=${line#* -> }
  file=${rest%%: *}
  text=${rest#*: }
  [[ $feature == "$line" || $file == "$rest" ]] && { complain "'$line' is not 'feature -> test: text'"; continue; }
  [[ -v seen["$feature"] ]] && complain "'$feature' occurs twice"
  seen["$feature"]=1
  if [[ ! -f test/$file ]]; then
    complain "'$feature' is tested by test/$file, which does not exist"
  elif ! grep -qF -- "$text" "test/$file"; then
    complain "test/$file does not contain '$text', which tests '$feature'"
  fi
done <test/features.txt
exit $status
