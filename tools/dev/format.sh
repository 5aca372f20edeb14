#!/bin/sh
# Formats every C and C++ source of the repository.
set -eu
cd "$(dirname "$0")/../.."
git ls-files '*.h' '*.cpp' '*.c' | xargs -r clang-format-22 -i
