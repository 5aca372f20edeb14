#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Compiles every tile that the cost model considers, for every bf16 nt shape of dense.suite, and writes
# FOLDER/tiles.suite, whose cases are called MxNxK/BLOCK_MxBLOCK_NxBLOCK_K-wWARPS. Everything else (stages, persistence,
# splits) is left to the compiler.
#   bench/suites/tiles.sh build/bin/tilec sm_90a build/tiles
#   build/bin/tile-run bench --suite build/tiles/tiles.suite --artifacts build/tiles --check --rounds 3 \
#       --bench-json=tiles.jsonl
set -euo pipefail
tilec=$1 target=$2 folder=$3
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$folder"
: >"$folder/tiles.suite"

large="128x256x64-w8 256x128x64-w8 128x128x64-w8 128x224x64-w8 128x192x64-w8 128x160x64-w8 128x144x64-w8 64x256x64-w4 128x64x64-w8"
large+=" 224x128x64-w8 192x128x64-w8 160x128x64-w8 144x128x64-w8"
small="128x96x64-w8 96x128x64-w8 192x64x64-w4 160x64x64-w4 64x192x64-w4 64x160x64-w4 64x128x64-w4 64x128x128-w4 64x64x64-w4 64x64x128-w4"
few="8x64x128-w4 8x128x128-w8 16x64x128-w4 16x128x128-w4 16x128x128-w8 16x256x128-w8 64x64x64-w4 64x128x64-w4 64x64x128-w4"

# tiles M N K GRAPH: compiles all tiles for one shape.
tiles() {
  local m=$1 n=$2 k=$3 graph=$4 list=$large tile warps blockM blockN blockK name promises=() stride
  [ $((m * n)) -gt $((3072 * 3072)) ] || list+=" $small"
  [ "$m" -gt 16 ] || list=$few
  for stride in lda=$k ldb=$k ldc=$n N=$n; do
    [ $((${stride#*=} % 8)) != 0 ] || promises+=("--assume=${stride%=*}=8")
  done
  for tile in $list; do
    warps=${tile#*-w}
    IFS=x read -r blockM blockN blockK <<<"${tile%-*}"
    name=${m}x${n}x$k-$tile
    "$tilec" "$here/../../examples/matmul.tile" --variants=none --target="$target" -D TRANS_B=1 --size="M=$m,N=$n,K=$k" \
      --signature 'a: *bf16, b: *bf16, c: *bf16' "${promises[@]}" -D BLOCK_M="$blockM" -D BLOCK_N="$blockN" \
      -D BLOCK_K="$blockK" --num-warps="$warps" -o "$folder/$name.cubin" &
    while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n; done
    echo "${m}x${n}x$k/$tile $name.cubin M=$m N=$n K=$k $graph" >>"$folder/tiles.suite"
  done
}
while read -r name _ m n k graph; do
  case $name in bf16-*-nt) tiles "${m#M=}" "${n#N=}" "${k#K=}" "$graph" ;; esac
done <"$here/dense.suite"
wait
