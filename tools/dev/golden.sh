#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# golden.sh ACTUAL EXPECTED: compares two files; with TILE_BLESS=1 it overwrites EXPECTED with ACTUAL instead.
set -eu
if [ "${TILE_BLESS:-}" = 1 ]; then
  cp "$1" "$2"
else
  diff -u "$2" "$1"
fi
