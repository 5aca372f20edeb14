#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Compiles the artifacts of the suites in this folder: compile.sh TILEC TARGET FOLDER [LIST]
#   bench/suites/compile.sh build/bin/tilec sm_90a build/bench
#   bench/suites/compile.sh build/bin/tilec sm_90a build/edges edges     only the artifacts of edges.artifacts
set -euo pipefail
tilec=$1 target=$2 folder=$3
examples=$(cd "$(dirname "$0")/../../examples" && pwd)
mkdir -p "$folder"

# named VARIANTS NAME FILE OPTION...: compiles one artifact of a list.
named() {
  local variants=$1 name=$2 file=$3 options=()
  shift 3
  for option; do
    case $option in
      @rows) options+=(--assume={lda,ldb,ldc,N}=8) ;;
      @batch) options+=(--assume={stride_a,stride_b,stride_c}=8) ;;
      *) options+=("$option") ;;
    esac
  done
  "$tilec" "$examples/gemm/$file" --variants="$variants" --target="$target" "${options[@]}" -o "$folder/$name.cubin"
}
# list NAME: compiles the artifacts of NAME.artifacts, as many at a time as there are processors. They have kernels for
# classes of sizes, as users get them, except for those of `edges`, which have one kernel each.
list() {
  local variants=auto
  [ "$1" != edges ] || variants=none
  while read -r -a words; do
    case ${words[0]-} in '' | '#'*) continue ;; esac
    named $variants "${words[@]}" &
    while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n; done
  done <"$(dirname "$0")/$1.artifacts"
  while [ -n "$(jobs -rp)" ]; do wait -n; done
}
if [ -n "${4-}" ]; then
  list "$4"
  exit
fi

# matmul TYPE ORDER TRANS_A TRANS_B: compiles one artifact for any size, and one for sizes and rows that are multiples
# of 8.
matmul() {
  local common=("$examples/matmul.tile" --variants=none --target="$target" -D TRANS_A="$3" -D TRANS_B="$4")
  [ "$1" = f16 ] || common+=(--signature "a: *$1, b: *$1, c: *$1")
  "$tilec" "${common[@]}" -o "$folder/matmul-$1-$2.cubin"
  "$tilec" "${common[@]}" --assume=lda=8 --assume=ldb=8 --assume=ldc=8 --assume=K=8 --assume=N=8 \
    --assume=M=8 -o "$folder/matmul-$1-$2-by8.cubin"
}
for type in f16 bf16; do
  matmul "$type" nn 0 0
  matmul "$type" nt 0 1
  matmul "$type" tn 1 0
  matmul "$type" tt 1 1
done
for kernel in copy vector_add silu transpose; do
  "$tilec" "$examples/$kernel.tile" --variants=none --target="$target" -o "$folder/$kernel.cubin"
done
# rows KERNEL BLOCK WARPS STRIDE...: compiles a kernel for rows of up to BLOCK columns, where the number of columns is a
# multiple of 8 and rows start at multiples of 16 bytes.
rows() {
  local kernel=$1 block=$2 warps=$3 stride promises=()
  shift 3
  for stride; do promises+=("--assume=$stride=8"); done
  "$tilec" "$examples/$kernel.tile" --variants=none --target="$target" -D BLOCK="$block" --num-warps="$warps" \
    --assume=N=8 "${promises[@]}" -o "$folder/$kernel-$block.cubin"
}
rows rmsnorm_matrix 256 4 stride_x stride_out
for shape in "1024 2" "8192 8" "32768 32"; do
  # shellcheck disable=SC2086 # the columns, and the warps
  {
    rows softmax $shape stride_x stride_out
    rows softmax_backward $shape stride
    rows cross_entropy $shape stride
    rows rmsnorm $shape stride_x stride_out
    rows layernorm $shape stride_x stride_out
  }
done
# Two CTAs of half as many threads are faster for norms of long rows.
rows rmsnorm 32768 16 stride_x stride_out
rows layernorm 32768 16 stride_x stride_out
for kernel in rmsnorm_backward layernorm_backward; do
  rows $kernel 8192 16 stride
done

# dense NAME SIZE...: compiles the artifact for a case of dense.suite. The name gives the kernel, type and operand
# layouts (bf16-4096-nt; bias-relu-f16-4096-nt and descriptors-bf16-4096-nt use other kernels). The artifact is compiled
# for the sizes of the case, with the assumption that rows start at multiples of 16 bytes if they do.
dense() {
  local name=$1 kernel=matmul plain=$1 type order transA=0 transB=0 M N K
  case $name in
    bias-relu-*) kernel=gemm/matmul_bias_relu plain=${name#bias-relu-} ;;
    descriptors-*) kernel=gemm/matmul_descriptors plain=${name#descriptors-} ;;
  esac
  type=${plain%%-*} order=${plain##*-}
  shift
  local "$@"
  case $order in t?) transA=1 ;; esac
  case $order in ?t) transB=1 ;; esac
  local lda=$((transA ? M : K)) ldb=$((transB ? K : N)) ldc=$N promises=() size sizes=(lda ldb ldc N)
  [ $kernel != gemm/matmul_descriptors ] || sizes=(M) # promises the others itself
  for size in "${sizes[@]}"; do
    [ $((${!size} % 8)) != 0 ] || promises+=("--assume=$size=8")
  done
  local signature="a: *$type, b: *$type, c: *$type"
  [ $kernel != gemm/matmul_bias_relu ] || signature+=", bias: *$type"
  "$tilec" "$examples/$kernel.tile" --variants=none --target="$target" -D TRANS_A=$transA -D TRANS_B=$transB \
    --size="M=$M,N=$N,K=$K" --signature "$signature" "${promises[@]}" -o "$folder/dense-$name.cubin"
}
while read -r name _ m n k _; do
  case $name in '' | '#'*) continue ;; esac
  dense "$name" "$m" "$n" "$k" &
  # As many at a time as there are processors.
  while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n; done
done <"$(dirname "$0")/dense.suite"
wait

list gemm
