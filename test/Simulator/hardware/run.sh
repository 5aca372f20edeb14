#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Runs the kernels of cases.txt on a device and prints a checksum of each output:
#   run.sh TILEC TILE-RUN DEVICE FOLDER
# What an H200 gave is in recorded.txt, and the outputs of kernels with approximate functions are in recorded/:
#   run.sh build/bin/tilec build/bin/tile-run cuda /tmp/hardware > recorded.txt; cp /tmp/hardware/*.npy recorded
set -euo pipefail
tilec=$1 run=$2 device=$3 folder=$4
here=$(cd "$(dirname "$0")" && pwd)
examples=$here/../../../examples
inputs=$here/../../Exec/Inputs
aligned="--assume=lda=8 --assume=ldb=8 --assume=ldc=8 --assume=M=8 --assume=N=8 --assume=K=8"
mkdir -p "$folder"

# A GPU runs ptxas's code for the PTX that the simulator runs; code for another target goes through the driver.
format=ptx
[ "$device" = sim ] || format=cubin
while IFS='|' read -r name compile arguments output within; do
  name=${name// /} output=${output// /} within=${within// /}
  case $name in '#'* | '') continue ;; esac
  target=sm_90a kind=$format
  case $name in *@*) target=${name#*@} kind=ptx ;; esac
  compile=${compile/ALIGNED/$aligned} arguments=${arguments//INPUTS/$inputs}
  arguments=${arguments//EXAMPLES/$examples}
  # shellcheck disable=SC2086 # options and arguments are words
  (cd "$examples" && "$tilec" $compile --variants=none --target="$target" --emit="$kind" -o "$folder/$name.$kind")
  # As many multiprocessors as the recorded GPU has: a sum that is split among them depends on their number.
  command=run options=(--device="$device")
  [ "$device" = sim ] && options+=(--sms=132)
  saved=$folder/$name.raw
  [ -n "$within" ] && saved=$folder/$name.npy
  if [ -n "$within" ] && [ "$device" = sim ]; then
    command=compare
    options+=(--recorded "$output=$here/recorded/$name.npy" --within "$within")
  fi
  # shellcheck disable=SC2086
  "$run" "$command" "$folder/$name.$kind" $arguments "${options[@]}" --check --save "$output=$saved" > "$folder/$name.txt" 2>&1 ||
    { echo "$name FAILED"; cat "$folder/$name.txt"; continue; }
  if [ -n "$within" ]; then
    echo "$name within $within"
  else
    echo "$name $(sha256sum < "$saved" | cut -c1-16)"
  fi
done < "$here/cases.txt"
