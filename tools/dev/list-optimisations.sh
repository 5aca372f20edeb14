#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# list-optimisations.sh [BUILD]: lists the passes that --disable accepts, one per line.
set -uo pipefail
cd "$(dirname "$0")/../.."
tilec=${1:-build}/bin/tilec input=test/Driver/Inputs/add.mlir
message=$("$tilec" $input --disable=none 2>&1)
for pass in $(sed 's/.*the passes are //; s/,//g' <<<"$message"); do
  "$tilec" $input --disable="$pass" --emit=nvvm -o /dev/null 2>/dev/null && echo "$pass"
done
