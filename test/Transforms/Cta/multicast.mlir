// What all producers of a cluster read at the same place each of them reads a part of, for all; slots are released to all.
// DEFINE: %{matmul} = tilec %examples/matmul.tile --target=sm_90a -D TRANS_B=1 -D BLOCK_M=128 -D BLOCK_N=256 -D BLOCK_K=64 --num-warps=8 --num-stages=4 --assume=lda=8 --assume=ldb=8 --assume=ldc=8 --assume=N=8
// RUN: %{matmul} --cluster=2x1 --stop-after=cta-multicast -o - | FileCheck %s
// Half of the 256 columns of b is a box; a is read as before.
// CHECK: tile.kernel @matmul
// CHECK-SAME: %[[A:[^ ]*]]: !tile.desc<128x64xf16> {tile.tensor_map = {base = "a", box = array<i64: 128, 64>
// CHECK-SAME: %[[B:[^ ]*]]: !tile.desc<256x64xf16> {tile.tensor_map = {base = "b", box = array<i64: 128, 64>
// CHECK-SAME: cluster_ctas = 2 : i32
// CHECK: %[[FULL:.*]] = cta.mbarrier_alloc arrivals 1 : <4>
// CHECK: %[[EMPTY:.*]] = cta.mbarrier_alloc arrivals 16 : <4>
// CHECK: cta.mbarrier_arrive %[[EMPTY]][%{{.*}}] if %{{.*}} {ctas = 2 : i32}
// CHECK: cta.mbarrier_arrive %[[EMPTY]][%{{[^ ]*}}] {ctas = 2 : i32}
// CHECK: cta.tma_store_wait 0
// CHECK-NEXT: cta.cluster_barrier
// CHECK-NEXT: } producer {
// CHECK: cta.mbarrier_wait %[[EMPTY]]
// CHECK-NEXT: cta.mbarrier_expect %[[FULL]][%{{.*}}], 49152
// CHECK: cta.tma_load %[[A]]
// CHECK: cta.tma_multicast %[[B]]{{.*}} {parts = 2 : i32}

// RUN: %{matmul} --cluster=1x2 --stop-after=cta-multicast -o - | FileCheck %s --check-prefix=COLUMNS
// COLUMNS: } producer {
// COLUMNS: cta.tma_multicast %{{.*}}{parts = 2 : i32} : <128x64xf16>
// COLUMNS: cta.tma_load %{{.*}} : <256x64xf16>

// Boxes that are whole already stay: columns of a row-major b are in four panels.
// RUN: %{matmul} -D TRANS_B=0 --cluster=2x1 --stop-after=cta-multicast -o - | FileCheck %s --check-prefix=PANELS
// PANELS: !tile.desc<64x256xf16> {tile.tensor_map = {base = "b", box = array<i64: 64, 64>
// PANELS: cta.tma_multicast %{{.*}}{parts = 2 : i32} : <64x256xf16>

// Nothing is the same for all: steps are split. And nothing to do without clusters, or without a producer.
// RUN: %{matmul} -D BLOCK_N=128 --cluster=1x1x2 --stop-after=cta-multicast -o - | FileCheck %s --check-prefix=ALONE
// RUN: %{matmul} --stop-after=cta-multicast -o - | FileCheck %s --check-prefix=ALONE
// RUN: %{matmul} --cluster=2x1 --disable=tile-form-clusters --stop-after=cta-multicast -o - | FileCheck %s --check-prefix=ALONE
// RUN: %{matmul} --cluster=2x1 --disable=cta-specialize-warps --stop-after=cta-multicast -o - | FileCheck %s --check-prefix=ALONE
// ALONE: tile.kernel
// ALONE-NOT: multicast
