// The loop over programs becomes one over whole programs and parts of programs. A part that does not begin with the
// program's first step leaves its sum; the other adds the sums of its helpers and goes on.
// RUN: tilec %examples/matmul.tile --target=sm_90a -D BLOCK_M=128 -D BLOCK_N=256 -D BLOCK_K=64 --num-warps=8 --num-stages=4 --assume=lda=8 --assume=ldb=8 --assume=ldc=8 --assume=N=8 --stop-after=cta-stream-k -o - | FileCheck %s
// 128 bytes for the flag, 128 KiB for the sum.
// CHECK: tile.kernel @matmul({{.*}}%[[SCRATCH:[^ ]*]]: !tile.ptr<i8> {tile.scratch = 131200 : i64})
// CHECK: scf.for
// CHECK: scf.for
// CHECK: cta.wgmma
// CHECK: scf.if
// CHECK: scf.for
// CHECK: cta.flag_wait
// CHECK-NEXT: cta.barrier
// CHECK: cta.partial_add
// CHECK: cta.tma_store
// CHECK: } else {
// CHECK: cta.partial_store
// CHECK-NEXT: cta.barrier
// CHECK: cta.flag_set

// Sums have as many columns as the product.
// RUN: tilec %examples/matmul.tile --target=sm_90a -D BLOCK_M=128 -D BLOCK_N=192 -D BLOCK_K=64 --num-warps=8 --num-stages=4 --assume=lda=8 --assume=ldb=8 --assume=ldc=8 --assume=N=8 --stop-after=cta-stream-k -o - | FileCheck %s --check-prefix=COLUMNS
// COLUMNS: {tile.scratch = 98432 : i64}
// COLUMNS: cta.partial_add {{.*}} {columns = 192 : i32}
// COLUMNS: cta.partial_store {{.*}} {columns = 192 : i32}

// Small blocks are for small problems, which would wait for the schedule; a kernel that is not persistent has one program.
// RUN: tilec %examples/matmul.tile --target=sm_90a -D BLOCK_M=64 -D BLOCK_N=64 -D BLOCK_K=64 --assume=lda=8 --assume=ldb=8 --assume=ldc=8 --assume=N=8 --stop-after=cta-stream-k -o - | FileCheck %s --check-prefix=WHOLE
// RUN: tilec %examples/matmul.tile --target=sm_90a -D BLOCK_M=128 -D BLOCK_N=256 -D BLOCK_K=64 --num-warps=8 --assume=lda=8 --assume=ldb=8 --assume=ldc=8 --assume=N=8 --disable=tile-make-persistent --stop-after=cta-stream-k -o - | FileCheck %s --check-prefix=WHOLE
// WHOLE: cta.wgmma
// WHOLE-NOT: partial

// Nor has a kernel that is persistent by itself scratch memory.
// RUN: tilec %examples/gemm/matmul_persistent.tile --target=sm_90a -D BLOCK_M=128 -D BLOCK_N=256 -D BLOCK_K=64 --num-warps=8 --disable=tile-make-persistent --stop-after=cta-stream-k -o - | FileCheck %s --check-prefix=WHOLE
// RUN: tilec %examples/gemm/matmul_persistent.tile --target=sm_90a -D BLOCK_M=128 -D BLOCK_N=256 -D BLOCK_K=64 --num-warps=8 --disable=tile-make-persistent --emit=ptx -o %t.ptx
