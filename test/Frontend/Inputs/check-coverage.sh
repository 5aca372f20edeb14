#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# check-coverage.sh ROOT: every diagnostic of Diagnostics.def is expected by some test, by its name in brackets (or in
# quotes, in a unit test), and every function of Builtins.def and PythonFunctions.def is called by some test. Lists what is missing.
root=$1
missing=0
for id in $(sed -n 's/^TILE_[A-Z_]*DIAGNOSTIC(\([a-z0-9_]*\),.*/\1/p' "$root/lib/Frontend/Syntax/Diagnostics.def" | tr _ -); do
  # Reported only if the emitter itself is wrong; no input is known to reach it.
  [ "$id" = invalid-module ] && continue
  if ! grep -rqF -e "[$id]" -e "[-W$id]" -e "\"$id\"" "$root/test/Frontend" "$root/test/Lint" "$root/test/Tile1" "$root/test/Driver" "$root/test/unit/Frontend"; then
    echo "no test expects diagnostic $id"
    missing=1
  fi
done
for name in $(sed -n 's/^TILE_\(BUILTIN\|PYTHON\|PYTHON_REAL\)("\([^"]*\)",.*/\2/p' "$root/lib/Frontend/Syntax/Builtins.def" \
  "$root/lib/Frontend/Syntax/PythonFunctions.def"); do
  last=${name##*.}
  if ! grep -rqw -e "$last" "$root/test/Frontend/emit" "$root/test/Exec" "$root/test/Tile1"; then
    echo "no test calls builtin $name"
    missing=1
  fi
done
exit $missing
