#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# check-reproducible.sh [FOLDER FOLDER]: compares the packages in two folders byte for byte, and lists the packaged
# files that differ. Without folders, first builds the packages of this commit twice, in clones with different names and
# umasks. These are two full builds, which take about twenty minutes on two cores.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

build() { # build NAME UMASK
  (umask "$2" && git clone -q . "$work/$1" && "$work/$1/run" package >"$work/log" 2>&1) || {
    cat "$work/log"
    exit 1
  }
}

if [ $# -eq 0 ]; then
  build one 022
  build another-one 077
  set -- "$work/one/build/package" "$work/another-one/build/package"
elif [ $# -ne 2 ] || [ ! -d "$1" ] || [ ! -d "$2" ]; then
  echo "usage: check-reproducible.sh [FOLDER FOLDER]" >&2
  exit 2
fi

# Prints, for each file in a package, sorted by name: permissions, owner, size, time and checksum; for a .deb also the
# control files.
contents() {
  local files
  files=$(mktemp -d -p "$work")
  if [[ $1 == *.deb ]]; then
    dpkg-deb --raw-extract "$1" "$files"
    dpkg-deb --contents "$1"
  else
    tar xf "$1" -C "$files"
    tar tvf "$1"
  fi | sort -k 6
  (cd "$files" && find . -type f -exec sha256sum {} + | sort -k 2)
  rm -rf "$files"
}

status=0
diff <(ls "$1") <(ls "$2") || status=1
for package in "$1"/*; do
  other=$2/${package##*/}
  if [ ! -e "$other" ] || cmp -s "$package" "$other"; then
    continue
  fi
  status=1
  echo "${package##*/} differs:"
  contents "$package" >"$work/first"
  contents "$other" >"$work/second"
  if diff "$work/first" "$work/second" >"$work/differences"; then
    echo "  in the order of its files, or in how they are packed"
  else
    head -20 "$work/differences"
  fi
done
[ $status -ne 0 ] || echo "check-reproducible: $(find "$1" -type f | wc -l) packages are the same"
exit $status
