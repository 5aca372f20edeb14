#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# other-cards.sh [TILEC] > figures.tsv
# Compiles examples for cards that have not been measured, and prints what is known without measurements: registers,
# bytes of spills, shared memory and machine code, and instructions in the PTX. The compiler assumes that pointers and
# integers are multiples of 16.
set -euo pipefail
cd "$(dirname "$0")/../.."
tilec=${1:-build/bin/tilec}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# name | source | options | parameters that are multiples of 16
kernels() {
  cat <<'END'
vector_add|vector_add.tile|-D BLOCK=1024 --num-warps=4|x y out N
silu|silu.tile|-D BLOCK=2048 --num-warps=4|x out N
softmax|softmax.tile|-D BLOCK=1024 --num-warps=4|x out M N stride_x stride_out
rmsnorm|rmsnorm.tile|-D BLOCK=4096 --num-warps=8|x weight out M N stride_x stride_out
layernorm|layernorm.tile|-D BLOCK=1024 --num-warps=8|x weight bias out M N stride_x stride_out
cross_entropy|cross_entropy.tile|-D BLOCK=1024 --num-warps=8|x label loss grad M N stride
dropout|dropout.tile|-D BLOCK=1024 --num-warps=4|x out N seed
transpose|transpose.tile|-D BLOCK_M=64 -D BLOCK_N=64 --num-warps=4|x out M N stride_x stride_out
matmul|matmul.tile|-D BLOCK_M=128 -D BLOCK_N=128 -D BLOCK_K=32 -D GROUP_M=8 --num-warps=8 --num-stages=3|a b c M N K lda ldb ldc
matmul_64|matmul.tile|-D BLOCK_M=64 -D BLOCK_N=64 -D BLOCK_K=32 -D GROUP_M=8 --num-warps=4 --num-stages=3|a b c M N K lda ldb ldc
attention|attention.tile|-D BLOCK_M=64 -D BLOCK_N=64 --num-warps=4 --num-stages=2|q k v o Z S
attention_causal|attention.tile|-D CAUSAL=1 -D BLOCK_M=64 -D BLOCK_N=64 --num-warps=4 --num-stages=2|q k v o Z S
END
}

# Counts PTX instructions by kind.
count() {
  awk '{ sub(/^[[:space:]]+/, ""); sub(/^@!?%[a-z0-9_]+[[:space:]]+/, "") }
       /^ld\.(weak\.|relaxed[a-z.]*\.|acquire[a-z.]*\.|volatile\.)?global/ { ++n[1] } /^cp\.async\.c[ag]/ { ++n[2] }
       /^st\.(weak\.)?global/ { ++n[3] } /^(ld\.shared|ldmatrix)/ { ++n[4] } /^(st\.shared|stmatrix)/ { ++n[5] }
       /^mma\./ { ++n[6] } /^(bar\.|barrier)/ { ++n[7] } /^(shfl|redux)/ { ++n[8] }
       END { for (i = 1; i <= 8; ++i) printf "%d%s", n[i], i < 8 ? "\t" : "\n" }'
}

# Prints the size of the kernel's machine code.
codeBytes() {
  echo $((16#$(readelf -SW "$1" 2>/dev/null | awk '{ for (i = 1; i < NF; ++i) if ($i ~ /^\.text\./) print $(i + 4) }')))
}

printf 'kernel\ttarget\tthreads\tregs\tspilled\tshared\tcode_bytes\tld.global\tcp.async\tst.global\tld.shared\tst.shared\tmma\tbar\tshfl\n'
kernels | while IFS='|' read -r name source options aligned; do
  promises=$(printf -- '--assume=%s=16 ' $aligned)
  for target in sm_80 sm_86 sm_89 sm_120; do
    cubin=$work/$name.$target.cubin
    "$tilec" "examples/$source" --target=$target --variants=none -w $options $promises -o "$cubin"
    "$tilec" "examples/$source" --target=$target --variants=none -w $options $promises -o "$work/kernel.ptx"
    launch=$(strings -n 200 "$cubin" | grep -m1 -o '"launch":{[^}]*}')
    number() { grep -o "\"$1\":[0-9]*" <<<"$launch" | grep -o '[0-9]*$' || echo 0; }
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t' "$name" "$target" "$(number threads_per_cta)" "$(number registers)" \
      "$(number spill_bytes)" "$(($(number shared_static) + $(number shared_dynamic)))" "$(codeBytes "$cubin")"
    count <"$work/kernel.ptx"
  done
done
