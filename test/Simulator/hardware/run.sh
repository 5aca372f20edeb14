#!/usr/bin/env bash
# Runs the kernels of cases.txt on a device and prints a checksum of each output:
#   run.sh TILEC TILE-RUN DEVICE FOLDER
# What an H200 gave is in recorded.txt: run.sh build/bin/tilec build/bin/tile-run cuda /tmp/hardware > recorded.txt
set -euo pipefail
tilec=$1 run=$2 device=$3 folder=$4
here=$(cd "$(dirname "$0")" && pwd)
examples=$here/../../../examples
aligned="--assume=lda=8 --assume=ldb=8 --assume=ldc=8 --assume=M=8 --assume=N=8 --assume=K=8"
mkdir -p "$folder"

# A GPU gets what ptxas makes of the PTX that the simulator runs; code for another target goes through the driver.
format=ptx
[ "$device" = sim ] || format=cubin
while IFS='|' read -r name compile arguments output; do
  name=${name// /} output=${output// /}
  case $name in '#'* | '') continue ;; esac
  target=sm_90a kind=$format
  case $name in *@*) target=${name#*@} kind=ptx ;; esac
  compile=${compile/ALIGNED/$aligned}
  # shellcheck disable=SC2086 # options and arguments are words
  (cd "$examples" && "$tilec" $compile --target="$target" --emit="$kind" -o "$folder/$name.$kind")
  # As many multiprocessors as the recorded GPU has: a sum that is split among them depends on their number.
  devices=(--device="$device")
  [ "$device" = sim ] && devices+=(--sms=132)
  # shellcheck disable=SC2086
  "$run" "$folder/$name.$kind" $arguments "${devices[@]}" --check --save "$output=$folder/$name.raw" > "$folder/$name.txt" 2>&1 ||
    { echo "$name FAILED"; cat "$folder/$name.txt"; continue; }
  echo "$name $(sha256sum < "$folder/$name.raw" | cut -c1-16)"
done < "$here/cases.txt"
