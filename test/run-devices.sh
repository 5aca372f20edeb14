#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# run-devices.sh DEVICE[,DEVICE...] WORD...: `tilec run WORD...` on each device; stops at the first that fails. The simulator gets the
# code of the GPU with the most special instructions; a GPU gets its own, and no --orders=N, since it alone orders its warps.
devices=$1
shift
for device in $(echo "$devices" | tr , ' '); do
  case $device in
  sim) tilec run --target=sm_90a --device=sim "$@" || exit ;;
  *)
    for word in "$@"; do
      shift
      case $word in --orders=*) ;; *) set -- "$@" "$word" ;; esac
    done
    tilec run --device="$device" "$@" || exit
    ;;
  esac
done
