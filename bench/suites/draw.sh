#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Prints random GEMM shapes in the format of tile-run's suites: draw.sh SEED > draw.suite
#
# There are 60 shapes, 15 for each combination of operand layouts. Sizes are distributed log-uniformly from 16 to 16384;
# in every fourth shape, one size is below 16. Half of the shapes have sizes that are multiples of 8 (unless they are
# below 8), and a tenth have odd sizes. Cases that should take less than 50 us are measured by replaying graphs.
set -euo pipefail
awk -v seed="$1" '
# Park and Miller, "Random number generators: good ones are hard to find" (1988): gives the same numbers in every awk.
function random() { seed = (16807 * seed) % 2147483647; return seed / 2147483647 }
function between(low, high) { return int(low * exp(random() * log((high + 1) / low))) }
BEGIN {
  seed = 1 + (seed * 7919) % 2147483646
  for (i = 0; i < 10; ++i) random()
  split("nn nt tn tt", orders, " ")
  for (i = 0; i < 60; ++i) {
    order = orders[1 + int(i / 15)]; small = i % 4 == 3; kind = random()
    for (d = 0; d < 3; ++d) size[d] = between(16, 16384)
    if (small) size[int(random() * 3)] = between(1, 15)
    for (d = 0; d < 3; ++d) {
      if (kind < 0.5 && size[d] >= 8) size[d] -= size[d] % 8
      if (kind >= 0.9) size[d] += 1 - size[d] % 2
    }
    m = size[0]; n = size[1]; k = size[2]
    microseconds = 2 * m * n * k / 7e8 + 2 * (m * n + m * k + n * k) / 4e6
    printf "%s-%dx%dx%d matmul-bf16-%s.cubin M=%d N=%d K=%d%s\n", order, m, n, k, order, m, n, k, microseconds < 50 ? " --graph" : ""
  }
}'
