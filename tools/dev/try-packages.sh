#!/usr/bin/env bash
# try-packages.sh [SUITE...]: installs the packages of build/package in clean roots of Debian (bookworm and trixie), as root, and does there what a
# newcomer does: compiles a kernel, runs it in the simulator, builds a program with CMake, once from the packages and once from the archive.
# Needs mmdebstrap, and the mirror that apt knows here.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$PWD/build/package
mirror=$(apt-cache policy | grep -oE 'https?://[^ ]+/debian/? ' | head -1)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"

for suite in "${@:-bookworm trixie}"; do
  for name in $suite; do
    root=$work/$name
    mmdebstrap --quiet --variant=minbase --include=cmake,make,g++ "$name" "$root" "${mirror% }"
    cp "$folder"/* "$root/root/"
    cp -r test/Package/Inputs/first "$root/root/first"
    chroot "$root" bash -euo pipefail <<'COMMANDS'
cd /root
begin=$SECONDS
dpkg -i tile_*.deb tile-dev_*.deb >/dev/null
tilec /usr/share/tile/examples/matmul.tile -o gemm.ptx
tile-run gemm.ptx M=96 N=96 K=64 --device=sim --check | grep -q ': ok'
echo "installed, compiled and simulated in $((SECONDS - begin)) s"
cmake -S first -B first/build >/dev/null && cmake --build first/build >/dev/null
first/build/first gemm.ptx | grep -q 'matmul for sm_.* takes 9 parameters'
dpkg -r tile-dev tile >/dev/null
tar xf tile-*.tar.gz
mv tile-*/ moved
moved/bin/tilec moved/share/tile/examples/softmax.tile -o softmax.ptx
moved/bin/tile-run softmax.ptx M=2 N=100 --device=sim --check | grep -q ': ok'
cmake -S first -B first/again -DCMAKE_PREFIX_PATH=/root/moved >/dev/null && cmake --build first/again >/dev/null
first/again/first softmax.ptx | grep -q 'softmax for sm_'
COMMANDS
    echo "$name: ok"
  done
done
