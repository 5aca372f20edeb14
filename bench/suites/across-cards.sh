#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# across-cards.sh FOLDER [check|bench|experts|killed|all]: checks and measures GEMMs and mixtures of experts across the
# two GPUs of a host, and kills ranks.
# FOLDER must have bench-across-cards and, in k, the kernels that `across-cards.sh FOLDER compile` makes from the
# sources with $TILEC. "check" takes at most 100 s even if every step hangs, "bench" and "experts" 110 s and "killed" 80
# s. Results are printed and written to $OUT.
set -u
phase=${2:-all}
if [ "$phase" = compile ]; then
  sources=$(dirname "$0")/../..; into=$1/k; mkdir -p "$into"
  kernel() { # NAME SOURCE OPTIONS...
    local name=$1 source=$2; shift 2
    "${TILEC:-tilec}" "$sources/$source" --target=sm_90a "$@" -o "$into/$name.cubin" || exit 1
  }
  own=lib/Distributed/kernels
  kernel gemm $own/gemm.tile
  kernel gemm_wait $own/gemm_wait.tile --std=tile1
  kernel sum $own/sum.tile
  for name in route push count place expand reduce combine; do kernel moe_$name $own/moe_$name.tile; done
  kernel moe_gate_up $own/moe_gemm.tile -D GATED=1
  kernel moe_down $own/moe_gemm.tile
  for name in expand_gradient gather_weights gated_gradient weight_gradient; do kernel moe_$name $own/moe_$name.tile; done
  kernel moe_back $own/moe_gemm.tile -D TRANS_B=0
  # Kernels whose tiles have fewer rows, for experts that have few rows.
  mkdir -p "$into/64"
  kernel 64/moe_gate_up $own/moe_gemm.tile -D GATED=1 -D BLOCK_M=64
  kernel 64/moe_down $own/moe_gemm.tile -D BLOCK_M=64
  kernel silu_mul bench/across-cards/silu_mul.tile
  for name in "$into"/*.cubin; do [ -e "$into/64/$(basename "$name")" ] || cp "$name" "$into/64"; done
  exit 0
fi
cd "$1"
OUT=${OUT:-/tmp/dist-out}; mkdir -p "$OUT"
export LD_LIBRARY_PATH=$PWD/lib:${LD_LIBRARY_PATH:-}
find_first() { find /usr /opt /root /home \( -path /proc -o -path /sys \) -prune -o -name "$1" -print 2>/dev/null | sort -r | head -1; }
nccl=$(find_first 'libnccl.so.2'); cublas=$(find_first 'libcublas.so.1[23]')
[ -n "$cublas" ] && export LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$(dirname "$cublas")
echo "nccl: $nccl   cublas: $cublas"
b=./bench-across-cards
now() { date +%s.%N; }
since() { awk -v a="$1" -v b="$(now)" 'BEGIN { printf "%.1f", b - a }'; }
step() { # LIMIT NAME COMMAND...
  local limit=$1 name=$2; shift 2
  local begin; begin=$(now)
  timeout -k 2 "$limit" "$@" > "$OUT/$name.txt" 2>&1
  local status=$?
  echo "== $name: status $status, $(since "$begin") s"
  tail -n "${LINES_SHOWN:-4}" "$OUT/$name.txt"
}
port=23400
pair() { # LIMIT NAME ARGUMENTS...: two processes
  local limit=$1 name=$2; shift 2
  local begin; begin=$(now); port=$((port + 11))
  RANK=1 WORLD_SIZE=2 LOCAL_RANK=1 MASTER_PORT=$port timeout -k 2 "$limit" "$b" "$@" > "$OUT/$name-1.txt" 2>&1 & local p=$!
  RANK=0 WORLD_SIZE=2 LOCAL_RANK=0 MASTER_PORT=$port timeout -k 2 "$limit" "$b" "$@" > "$OUT/$name-0.txt" 2>&1
  local status=$?; wait $p
  echo "== $name (processes): status $status and $?, $(since "$begin") s"
  tail -n 3 "$OUT/$name-0.txt"; tail -n 2 "$OUT/$name-1.txt"
}
killed() { # NUMBER SECONDS: kills a rank after some time; the other rank must end with an error
  local i=$1 delay=$2 victim=$(($1 % 2)) other=$((1 - $1 % 2))
  local arguments=(endure --kernels=k --nccl="$nccl" --timeout=1500 --seed="$i" --verbose)
  local victims=$OUT/killed-$i-$victim.txt others=$OUT/killed-$i-$other.txt
  export WORLD_SIZE=2 MASTER_PORT=$((24000 + 11 * i))
  RANK=$victim LOCAL_RANK=$victim "$b" "${arguments[@]}" > "$victims" 2>&1 & local dying=$!
  RANK=$other LOCAL_RANK=$other "$b" "${arguments[@]}" > "$others" 2>&1 & local left=$!
  disown "$dying"
  sleep "$delay"
  local phase_then; phase_then=$(tail -n 1 "$others" | cut -c1-100)
  kill -9 "$dying"; local at; at=$(now)
  # 1.5 s until the time limit of a wait, 2.5 s to release the GPU, 1.5 s to end NCCL, and some time to end the process.
  local tries=0
  while kill -0 "$left" 2>/dev/null && [ $tries -lt 70 ]; do sleep 0.1; tries=$((tries + 1)); done
  local verdict=right
  if kill -0 "$left" 2>/dev/null; then
    verdict=WRONG
    { echo "-- threads that have not ended:"
      for task in /proc/"$left"/task/*; do echo "$(cat "$task/comm") $(cat "$task/wchan" 2>/dev/null) $(cut -d' ' -f1-3 "$task/syscall" 2>/dev/null)"; done
      command -v gdb > /dev/null && timeout 5 gdb -p "$left" -batch -ex 'thread apply all backtrace 14' 2>/dev/null | grep -E '^(Thread|#)' | cut -c1-150; } >> "$others"
    kill -9 "$left"
  fi
  local took; took=$(since "$at")
  wait "$left" 2>/dev/null; local status=$?
  local message; message=$(grep -ah FAILED "$others" | cut -c1-200)
  [ "$status" = 1 ] && [ -n "$message" ] || verdict=WRONG
  echo "killed $i: $verdict: rank $victim after $delay s; rank $other (in: $phase_then) status $status after $took s: $message"
  if [ $verdict = WRONG ]; then tail -n 25 "$others" | sed 's/^/    /'; fi
  echo "$verdict" > "$OUT/killed-$i.verdict"
}
if [ "$phase" = check ] || [ "$phase" = all ]; then
  nvidia-smi --query-gpu=index,name,driver_version --format=csv,noheader
  gemms=(check --kernels=k --only=gemms --timeout=3000 --verbose)
  step 13 runs-copies-short "$b" "${gemms[@]}" --transport=copies --graphs=0 --short
  step 13 runs-copies "$b" "${gemms[@]}" --transport=copies --graphs=0
  step 13 runs-nccl "$b" "${gemms[@]}" --transport=nccl --nccl="$nccl" --graphs=0
  pair 13 graphs-short "${gemms[@]}" --transport=copies --graphs=3 --short
  pair 13 graphs-nccl "${gemms[@]}" --transport=nccl --nccl="$nccl" --graphs=3
  step 13 graphs-threads-once "$b" "${gemms[@]}" --transport=copies --graphs=1 --short
  step 13 graphs-threads "$b" "${gemms[@]}" --transport=copies --graphs=3
  step 8 lost "$b" lost --kernels=k --timeout=2000 --nccl="$nccl"
fi
if [ "$phase" = bench ] || [ "$phase" = all ]; then
  export LINES_SHOWN=40
  step 60 bench-layers "$b" bench --kernels=k --nccl="$nccl" --cublas="$cublas" --rounds=3
  step 45 soak "$b" soak --kernels=k --nccl="$nccl" --seconds=35 --timeout=4000
fi
if [ "$phase" = experts ] || [ "$phase" = all ]; then
  experts=(check --kernels=k --only=experts --timeout=3000 --verbose)
  step 8 experts-copies-short "$b" "${experts[@]}" --transport=copies --graphs=0 --short
  step 10 experts-copies "$b" "${experts[@]}" --transport=copies --graphs=3
  step 10 experts-nccl "$b" "${experts[@]}" --transport=nccl --nccl="$nccl" --graphs=0
  pair 10 experts-graphs "${experts[@]}" --transport=copies --graphs=3
  pair 10 experts-graphs-nccl "${experts[@]}" --transport=nccl --nccl="$nccl" --graphs=3
  export LINES_SHOWN=40
  measure=(experts --nccl="$nccl" --cublas="$cublas" --rounds=3 --timeout=10000)
  step 42 bench-experts "$b" "${measure[@]}" --kernels=k
  step 18 bench-experts-64 "$b" "${measure[@]}" --kernels=k/64 --tokens=2048 --tokens=4096
fi
if [ "$phase" = killed ] || [ "$phase" = all ]; then
  rm -f "$OUT"/killed-*
  delay() { awk -v s="$RANDOM" 'BEGIN { printf "%.2f", 0.2 + 3.3 * s / 32768 }'; }
  begin=$(now); begun=0
  for i in 1 3 5 7 9 11 13 15 17 19; do
    [ "$(since "$begin" | cut -d. -f1)" -lt 62 ] || break # each pair takes 16 s at most
    begun=$((begun + 2))
    (killed $i "$(delay)") & one=$!
    (killed $((i + 1)) "$(delay)") & two=$!
    wait $one $two
  done
  echo "$(cat "$OUT"/killed-*.verdict | grep -c right) of $begun ended with an error within the limit ($(since "$begin") s)"
fi
