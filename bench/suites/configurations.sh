#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Measures how fast the configuration is that a launch chooses, compared with the fastest configuration.
#   bench/suites/configurations.sh compile build/bin/tilec sm_90a FOLDER      compiles the artifacts
#   bench/suites/configurations.sh measure build/bin/tile-run FOLDER          measures all variants: FOLDER/KERNEL.times
#   bench/suites/configurations.sh report FOLDER                              prints choice/fastest for each call
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
kernels="vector_add softmax layernorm dropout column_sums transpose w4a16 attention depthwise_conv embedding"

# shapes KERNEL: prints the measured calls, one per line.
shapes() {
  case $1 in
    vector_add | dropout) printf 'N=%s\n' 20000 1000000 50000000 ;;
    softmax | layernorm) printf 'M=%s N=%s\n' 64 4096 4096 1024 8192 8192 ;;
    column_sums) printf 'M=%s N=%s\n' 512 1024 8192 1024 4096 16384 ;;
    transpose) printf 'M=%s N=%s\n' 256 512 2048 2048 8192 8192 ;;
    w4a16) printf 'M=%s N=4096 K=4096\n' 8 70 2048 ;;
    attention) printf 'Z=%s S=%s\n' 4 512 32 1024 16 4096 ;;
    depthwise_conv) printf 'C=%s N=%s\n' 16 1024 256 4096 1024 16384 ;;
    embedding) printf 'V=1000 M=%s N=%s\n' 64 768 4096 1024 65536 512 ;;
  esac
}

# report KERNEL FILE: prints for each call the variant that is expected to be the fastest, and the variant that is the
# fastest. If several variants have the same estimate, a launch chooses the one with more assumptions.
report() {
  sed 's/^{"call":"\(.*\)","variant":"\(.*\)","expected":\(.*\),"microseconds":\(.*\),"rounds":.*}$/\1|\3|\4|\2/' "$2" |
    awk -F'|' -v kernel="$1" '
      function finish() {
        if (call != "")
          printf "%-15s %-26s %5.2f  takes %-40s %9.2f us (expected %9.2f)  fastest %-40s %9.2f us\n",
            kernel, call, taken / fastest, choice, taken, least, best, fastest
      }
      $1 != call { finish(); call = $1; least = fastest = 1e30 }
      $2 != "null" && ($2 < least || ($2 == least && $4 ~ /^aligned/ && choice !~ /^aligned/)) { least = $2; taken = $3; choice = $4 }
      $3 < fastest { fastest = $3; best = $4 }
      END { finish() }'
}

case ${1-} in
  compile)
    mkdir -p "$4"
    for kernel in $kernels; do
      "$2" "$here/configurations.tile" --kernel="$kernel" --target="$3" -o "$4/$kernel.cubin"
    done
    ;;
  measure)
    for kernel in $kernels; do
      rm -f "$3/$kernel.times"
      shapes "$kernel" >"$3/$kernel.shapes"
      "$2" tune "$3/$kernel.cubin" --shapes "$3/$kernel.shapes" --all --times "$3/$kernel.times" -o "$3/$kernel.tuning"
    done
    ;;
  report)
    for kernel in $kernels; do
      [ ! -e "$2/$kernel.times" ] || report "$kernel" "$2/$kernel.times"
    done
    ;;
  *)
    sed -n '3,6s/^# *//p' "$0"
    exit 2
    ;;
esac
