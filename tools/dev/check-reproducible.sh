#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# check-reproducible.sh: builds the packages of this commit twice, in folders of different names, and compares them byte for byte. Two whole
# builds: some twenty minutes on two cores. What differs is left in the folder that it names.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
for name in one another-one; do
  git clone -q . "$work/$name"
  "$work/$name/run" package >"$work/$name.log" 2>&1 || {
    cat "$work/$name.log"
    exit 1
  }
done
status=0
for package in "$work"/one/build/package/*; do
  if ! cmp "$package" "$work/another-one/build/package/${package##*/}"; then
    status=1
  fi
done
if [ $status -eq 0 ]; then
  echo "check-reproducible: $(ls "$work/one/build/package" | wc -l) packages are the same"
  rm -rf "$work"
else
  echo "check-reproducible: the packages in $work differ"
fi
exit $status
