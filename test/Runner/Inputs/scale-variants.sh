#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# scale-variants.sh SCALE.ptx OUT: variants of the kernel `scale`, for make-pack.
#   OUT.general.ptx  promises nothing and has no model of its time; 300 us
#   OUT.large.ptx    n a multiple of 4, 16-byte addresses; the test driver takes 100 us and 0.1 us a block for it
#   OUT.small.ptx    the same; 20 us and 1 us a block, and the model expects more than of `large`
#   OUT.thousand.ptx no parameter `limit`, which is 1000
set -e
base='s/sm_75/sm_90a/g'
name() { printf "%s" "s/\"kernel\":\"scale\"/\"variant\":\"$1\",\"kernel\":\"scale\"/"; }
any='s/"alignment":16/"alignment":4/g; s/,"divisibility":4//'
takes() { printf "%s" "s|^.version|// fake.microseconds: $1\n.version|"; }
cost() {
  printf "%s" "s/,\"expect\"/,\"cost\":{\"model\":\"gemm\",\"m\":\"n\",\"n\":\"1024\",\"k\":\"1024\",\"element\":\"bf16\",\"output_bytes\":2,\"tensor_maps\":true,\"block\":[$1],\"warps\":8,\"stages\":$2,\"wgmma\":true,\"persistent\":true},\"expect\"/"
}
sed -e "$base" -e "$any" -e "$(name general)" -e "$(takes '300 0')" "$1" > "$2.general.ptx"
sed -e "$base" -e "$(name large)" -e "$(takes '100 0.1')" -e "$(cost 128,128,64 4)" "$1" > "$2.large.ptx"
sed -e "$base" -e "$(name small)" -e "$(takes '20 1')" -e "$(cost 128,256,64 4)" "$1" > "$2.small.ptx"
sed -e "$base" -e "$any" -e "$(name thousand)" -e 's/.param .u32 limit, //' -e 's/ld.param.u32 %r1, \[limit\]/mov.u32 %r1, 1000/' \
  -e 's/{"name":"limit","type":"i32","default":"n"},//' -e 's/"BLOCK":128/"BLOCK":128,"limit":1000/' "$1" > "$2.thousand.ptx"
