#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Formats every C and C++ source of the repository and, once tilec is built, the examples.
set -eu
cd "$(dirname "$0")/../.."
git ls-files '*.h' '*.cpp' '*.c' | xargs -r clang-format-22 -i
[ ! -x build/bin/tilec ] || git ls-files 'examples/*.tile' | xargs build/bin/tilec format
