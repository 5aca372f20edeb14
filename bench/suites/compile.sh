#!/usr/bin/env bash
# Compiles the artifacts of the suites beside this script: compile.sh TILEC TARGET FOLDER
#   bench/suites/compile.sh build/bin/tilec sm_90a build/bench
set -euo pipefail
tilec=$1 target=$2 folder=$3
examples=$(cd "$(dirname "$0")/../../examples" && pwd)
mkdir -p "$folder"

# matmul TYPE ORDER TRANS_A TRANS_B: one artifact for any size, one for sizes and rows that are multiples of 8, and one
# for any M if a is row-major.
matmul() {
  local common=("$examples/matmul.tile" --target="$target" -D TRANS_A="$3" -D TRANS_B="$4")
  [ "$1" = f16 ] || common+=(--signature "a: *$1, b: *$1, c: *$1")
  "$tilec" "${common[@]}" -o "$folder/matmul-$1-$2.cubin"
  "$tilec" "${common[@]}" --assume=lda=8 --assume=ldb=8 --assume=ldc=8 --assume=K=8 --assume=N=8 \
    --assume=M=8 -o "$folder/matmul-$1-$2-by8.cubin"
  [ "$3" = 1 ] || "$tilec" "${common[@]}" --assume=lda=8 --assume=ldb=8 --assume=ldc=8 --assume=K=8 --assume=N=8 \
    -o "$folder/matmul-$1-$2-any-m.cubin"
}
for type in f16 bf16; do
  matmul "$type" nn 0 0
  matmul "$type" nt 0 1
  matmul "$type" tn 1 0
  matmul "$type" tt 1 1
done
for kernel in copy vector_add silu transpose; do
  "$tilec" "$examples/$kernel.tile" --target="$target" -o "$folder/$kernel.cubin"
done
# Rows that start at multiples of 16 bytes.
for kernel in softmax rmsnorm rmsnorm_matrix; do
  "$tilec" "$examples/$kernel.tile" --target="$target" --assume=stride_x=8 --assume=stride_out=8 -o "$folder/$kernel.cubin"
done
