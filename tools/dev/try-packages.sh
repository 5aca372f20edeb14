#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# try-packages.sh [SUITE...]: as root, installs the packages of build/package in clean Debian roots (bookworm and
# trixie). Then, as a new user there without GPU, driver and CUDA toolkit, it compiles a kernel, runs it in the
# simulator, builds the examples with embedded kernels as their first lines say, and runs them. Finally it repeats some
# of these steps with the archive. Needs mmdebstrap and the configured apt mirror.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$PWD/build/package
mirror=$(apt-cache policy | grep -oE 'https?://[^ ]+/debian/? ' | head -1)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
[ $# -gt 0 ] || set -- bookworm trixie

# Additional dependencies of the examples. Debian has ONNX Runtime only from trixie on.
declare -A libraries=([bookworm]=libdlpack-dev,libtorch-dev [trixie]=libdlpack-dev,libtorch-dev,libonnxruntime-dev)

for suite in "$@"; do
  root=$work/$suite
  mmdebstrap --quiet --variant=minbase --include="cmake,make,g++,${libraries[$suite]:-}" "$suite" "$root" "${mirror% }"
  cp "$folder"/* "$root/root/"
  mkdir "$root/root/checkout"
  cp run CMakeLists.txt "$root/root/checkout/"
  cp -r examples "$root/root/checkout/"
  cp -r test/Package/Inputs/first "$root/root/first"
  env --ignore-environment PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive chroot "$root" bash -euo pipefail <<'COMMANDS'
cd /root
begin=$SECONDS
apt-get install -qq -y -o Dpkg::Use-Pty=0 ./tile_*.deb ./tile-dev_*.deb ./tile-compiler_*.deb >/dev/null
tilec /usr/share/tile/examples/matmul.tile -o gemm.ptx
tile-run gemm.ptx M=96 N=96 K=64 --device=sim --check | grep -q ': ok'
echo "installed, compiled and simulated in $((SECONDS - begin)) s"
cmake -S first -B first/build >/dev/null && cmake --build first/build >/dev/null
first/build/first gemm.ptx | grep -q 'matmul for sm_.* takes 9 parameters'

# example FOLDER PROGRAM [ARGUMENT...]
example() {
  local name=$1 program=$2 begin=$SECONDS
  shift 2
  cmake -S /usr/share/tile/examples/"$name" -B "$name" >"$name.log" 2>&1 && cmake --build "$name" >>"$name.log" 2>&1 || {
    tail -30 "$name.log"
    return 1
  }
  LD_LIBRARY_PATH=$(echo /usr/lib*/tile/simulator /usr/lib/*/tile/simulator | tr ' ' '\n' | grep -v '\*' | head -1) "$name/$program" "$@" >>"$name.log" 2>&1 || {
    tail -30 "$name.log"
    return 1
  }
  echo "$name: built and run in $((SECONDS - begin)) s"
}
example embed-c add
example embed-cpp multiply embed-cpp/matmul.tilepack
example embed-jit scale
example train-mlp train-mlp /usr/share/tile/examples/train-mlp/digits.csv 5
example transformer-block transformer-block
example two-layers two-layers
example dlpack dlpack
[ ! -e /usr/include/torch/library.h ] || example torch-operator try-operator
[ ! -e /usr/include/onnxruntime ] || example onnxruntime-operator try-operator
dpkg -r tile-compiler tile-dev tile >/dev/null

# Unpack the archive in an arbitrary folder. CMake must find the package there, and `run` must find the tools next to
# itself.
tar xf tile-*.tar.gz
mv tile-*/ moved
moved/bin/tilec moved/share/tile/examples/softmax.tile -o softmax.ptx
moved/bin/tile-run softmax.ptx M=2 N=100 --device=sim --check | grep -q ': ok'
cmake -S first -B first/again -DCMAKE_PREFIX_PATH=/root/moved >/dev/null && cmake --build first/again >/dev/null
first/again/first softmax.ptx | grep -q 'softmax for sm_'
cmake -S checkout/examples/embed-cmake-superbuild -B super -DTILE_ARCHIVE="$(echo tile-*.tar.gz)" >super.log
cmake --build super >>super.log
LD_LIBRARY_PATH=$PWD/moved/lib/tile/simulator super/engine/add | grep -q 'sums are right'
cp tile-*.tar.gz checkout/
begin=$SECONDS
checkout/run demo | grep -q ': ok'
echo "./run demo with the archive: $((SECONDS - begin)) s"
COMMANDS
  echo "$suite: ok"
done
