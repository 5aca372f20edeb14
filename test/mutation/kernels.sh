#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# usage: kernels.sh FOLDER [tile-mutate's options]: all mutants of kernels of every kind, which takes some minutes.
# Compiles the kernels to FOLDER; tilec and tile-mutate must be in PATH. The last line has the sum.
set -e
folder=$1
shift
here=$(dirname "$0")
examples=$here/../../examples
rows="--assume=lda=8 --assume=ldb=8 --assume=ldc=8 --assume=N=8"
block="-D BLOCK_M=64 -D BLOCK_N=64 -D BLOCK_K=64 --num-warps=4"
hopper="matmul --target=sm_90a $rows $block"

# mutate NAME "COMPILER OPTIONS" RUNS…
mutate() {
  name=$1 options=$2
  shift 2
  set -- "$@" $extra
  # shellcheck disable=SC2086 # options are words
  set -- $options -- "$@"
  kernel=$1
  shift
  compile=
  while [ "$1" != -- ]; do compile="$compile $1"; shift; done
  shift
  # shellcheck disable=SC2086
  tilec "$examples/$kernel.tile" $compile --emit=ptx -o "$folder/$name.ptx"
  tile-mutate "$folder/$name.ptx" "$@" --equivalent="$here/equivalent.txt" | tee -a "$folder/log" || true
}

extra=$*
mkdir -p "$folder"
: > "$folder/log"
# With wgmma and TMA: roles, ping-pong, shared operands, split K, parts of GEMMs.
mutate wgmma "$hopper --num-stages=3" --run="M=128 N=128 K=320" --run="M=65 N=8 K=1 lda=8"
mutate pingpong "$hopper --num-stages=4 --schedule=pingpong" --run="M=256 N=192 K=320 sms=2" --run="M=64 N=256 K=0 lda=8 sms=1"
mutate cluster "$hopper --num-stages=3 --cluster=2x1" --run="M=128 N=128 K=320"
mutate steps "$hopper --num-stages=3 --cluster=1x1x2" --run="M=128 N=128 K=320"
mutate streamk "matmul --target=sm_90a $rows -D BLOCK_M=128 -D BLOCK_N=128 -D BLOCK_K=64 --num-warps=8 --num-stages=4" \
  --run="M=384 N=256 K=320" --run="M=384 N=128 K=4096 sms=2" --run="M=200 N=504 K=6400 sms=5"
mutate persistent "gemm/matmul_persistent --target=sm_90a" --run="M=192 N=128 K=320"
mutate descriptors "gemm/matmul_descriptors --target=sm_90a $block --num-stages=3" --run="M=128 N=136 K=200"
mutate mlp "mlp --target=sm_90a" --run="M=500 K=56 H=304 N=40 sms=1"
mutate attention "attention --target=sm_90a" --run="Z=1 S=640 sms=1"
mutate linear_backward_weight "gemm/linear --kernel=linear_backward_weight --target=sm_90a -D BLOCK_M=64 -D BLOCK_N=64 -D BLOCK_K=64 --num-warps=4 --num-stages=3"
# By mma and cp.async.
mutate mma80 "matmul --target=sm_80 $rows -D BLOCK_M=64 -D BLOCK_N=64 -D BLOCK_K=32 --num-warps=4 --num-stages=3" \
  --run="M=128 N=128 K=160"
mutate attention80 "attention --target=sm_80" --run="Z=1 S=256"
mutate bias80 "gemm/matmul_bias_relu --target=sm_80" --run="M=128 N=128 K=256"
mutate conv2d "conv2d --target=sm_90a"
# Shared memory between the threads of a program.
mutate softmax_backward "softmax_backward --target=sm_90a" --run="M=8 N=1000"
mutate layernorm_backward "layernorm_backward --target=sm_90a" --run="M=9 P=3 N=1000"
mutate rmsnorm_backward "rmsnorm_backward --target=sm_90a" --run="M=9 P=3"
mutate transpose "transpose --target=sm_90a" --run="M=128 N=128"
mutate transpose_padded "transpose_padded --target=sm_90a" --run="M=64 N=64"

awk '/ mutants, / { mutants += $2; caught += $4; same += $6 }
     END { printf "%d mutants, %d equivalent, %d of %d others caught: %.1f %%\n", mutants, same, caught, mutants - same,
           100 * caught / (mutants - same) }' "$folder/log"
