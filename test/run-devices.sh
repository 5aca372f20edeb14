#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# run-devices.sh DEVICE[,DEVICE...] WORD...: `tilec run WORD...` on each device; stops at the first that fails. The simulator gets the
# code for TILE_SIM_TARGET, or sm_90a; a GPU gets its own, and neither --orders=N nor --sms=N, since it orders its warps
# itself and has its own number of multiprocessors.
devices=$1
shift
for device in $(echo "$devices" | tr , ' '); do
  case $device in
  sim)
    case " $* " in *" --target="*) target= ;; *) target=--target=${TILE_SIM_TARGET:-sm_90a} ;; esac
    tilec run $target --device=sim "$@" || exit
    ;;
  *)
    for word in "$@"; do
      shift
      case $word in --orders=* | --sms=*) ;; *) set -- "$@" "$word" ;; esac
    done
    tilec run --device="$device" "$@" || exit
    ;;
  esac
done
