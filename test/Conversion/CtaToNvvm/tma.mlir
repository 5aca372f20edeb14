// Copies by TMA: one instruction a box, coordinates innermost first; a tensor map is passed by value.
// RUN: tile-opt %s --convert-cta-to-nvvm | FileCheck %s

#s = #cta.layout<[64, 128], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [0, 64]]>
!d = !tile.desc<64x128xf16>
!b = !cta.buffer<64x128xf16, #s>

// CHECK-LABEL: llvm.func @load
// CHECK-SAME: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant, tile.tensor_map = #tile.tensor_map<base = "a">}
// CHECK-DAG: %[[I:.*]] = arith.constant 3 : i32
// CHECK-DAG: %[[J:.*]] = arith.constant 5 : i32
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} box[%[[J]], %[[I]]]
// CHECK: %[[PANEL:.*]] = arith.addi %[[J]]
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} box[%[[PANEL]], %[[I]]]
// CHECK-NOT: nvvm.cp.async.bulk.tensor
tile.kernel @load(%d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}) attributes {shared_bytes = 16416 : i64} {
  %i = arith.constant 3 : i32
  %j = arith.constant 5 : i32
  %slot = arith.constant 1 : i32
  %b = cta.alloc at 0 : !b
  %m = cta.mbarrier_alloc arrivals 1 at 16384 : !cta.mbarrier<4>
  cta.tma_load %d[%i, %j], %b, %m[%slot] : !d, !b, !cta.mbarrier<4>
  tile.return
}

// Two panels, and the 32 columns of the third through a separate map; 20480 bytes arrive.
// CHECK-LABEL: llvm.func @load_tail
// CHECK-SAME: %[[D:[a-z0-9]+]]: !llvm.ptr {{{[^%]*}}%[[REST:[a-z0-9]+]]: !llvm.ptr
// CHECK: %[[BYTES:.*]] = arith.constant 20480 : i32
// CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %[[BYTES]]
// CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}}, %[[D]],
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}}, %[[REST]],
#w = #cta.layout<[64, 256], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [0, 64], [0, 128]]>
tile.kernel @load_tail(%d: !tile.desc<64x160xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}, %r: !tile.desc<64x32xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}, %i: i32) attributes {shared_bytes = 24608 : i64} {
  %b = cta.alloc at 0 : !cta.buffer<64x160xf16, #w>
  %m = cta.mbarrier_alloc arrivals 1 at 24576 : !cta.mbarrier<1>
  cta.tma_load_sync %d[%i, %i] tail %r, %b, %m : !tile.desc<64x160xf16> tail !tile.desc<64x32xf16>, !cta.buffer<64x160xf16, #w>, !cta.mbarrier<1>
  tile.return
}

// One thread initialises the barrier, announces the bytes, copies and waits; all synchronize before and after it.
// CHECK-LABEL: llvm.func @load_sync
// CHECK: nvvm.barrier
// CHECK: scf.if
// CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>
// CHECK: nvvm.mbarrier.init
// CHECK: nvvm.fence.mbarrier.init
// CHECK: %[[BYTES:.*]] = arith.constant 16384 : i32
// CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %[[BYTES]]
// CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.shared.cluster.global
// CHECK: mbarrier.try_wait.parity
// CHECK: nvvm.mbarrier.inval
// CHECK: nvvm.barrier
tile.kernel @load_sync(%d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}, %i: i32) attributes {shared_bytes = 16416 : i64} {
  %b = cta.alloc at 0 : !b
  %m = cta.mbarrier_alloc arrivals 1 at 16384 : !cta.mbarrier<1>
  cta.tma_load_sync %d[%i, %i], %b, %m : !d, !b, !cta.mbarrier<1>
  tile.return
}

// CHECK-LABEL: llvm.func @store
// CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>
// CHECK: scf.if
// CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.global.shared.cta
// CHECK: nvvm.cp.async.bulk.commit.group
// CHECK: nvvm.cp.async.bulk.wait_group 1 {read}
tile.kernel @store(%d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}, %i: i32) attributes {shared_bytes = 16384 : i64} {
  %b = cta.alloc at 0 : !b
  cta.proxy_fence
  cta.tma_store %b, %d[%i, %i] : !b, !d
  cta.tma_store_wait 1
  tile.return
}

// Barriers of a ring are 8 bytes apart. A warp arrives once, when all its lanes have; a condition needs no
// branch.
// CHECK-LABEL: llvm.func @barriers
// CHECK: %[[OFFSET:.*]] = arith.muli %{{.*}}, %c8_i32
// CHECK: llvm.getelementptr {{.*}}[%[[OFFSET]]]
// CHECK: mbarrier.try_wait.parity.shared::cta.b64 complete, [$0], $1;
// CHECK: nvvm.bar.warp.sync
// CHECK: @$0 mbarrier.arrive.shared.b64 state, [$1]
// CHECK: nvvm.bar.warp.sync
// CHECK: scf.if
// CHECK-NEXT: nvvm.mbarrier.arrive
// CHECK: nvvm.mbarrier.arrive.expect_tx
tile.kernel @barriers(%slot: i32, %parity: i32, %c: i1) attributes {shared_bytes = 64 : i64} {
  %m = cta.mbarrier_alloc arrivals 4 at 32 : !cta.mbarrier<4>
  cta.mbarrier_wait %m[%slot], %parity : !cta.mbarrier<4>
  cta.mbarrier_arrive %m[%slot] if %c : !cta.mbarrier<4>
  cta.mbarrier_arrive %m[%slot] : !cta.mbarrier<4>
  cta.mbarrier_expect %m[%slot], 4096 : !cta.mbarrier<4>
  tile.return
}

#panel = #cta.layout<[128, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [64, 0]]>
// Each of two warp groups copies its own 64 rows: 8192 bytes further, 64 rows further.
// CHECK-LABEL: llvm.func @store_of_groups
// CHECK: nvvm.shfl.sync idx
// CHECK-DAG: arith.constant 8192 : i32
// CHECK-DAG: arith.constant 64 : i32
// CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta
// CHECK-NOT: nvvm.cp.async.bulk.tensor
// CHECK: llvm.return
tile.kernel @store_of_groups(%d: !tile.desc<128x64xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}, %i: i32) attributes {num_warps = 8 : i32, shared_bytes = 16384 : i64} {
  %b = cta.alloc at 0 : !cta.buffer<128x64xf16, #panel>
  cta.tma_store %b, %d[%i, %i] {groups = 2 : i32} : !cta.buffer<128x64xf16, #panel>, !tile.desc<128x64xf16>
  tile.return
}

#panels = #cta.layout<[16, 128], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [0, 64]]>
// Each of two warp groups copies its own panel: 2048 bytes further, 64 columns further.
// CHECK-LABEL: llvm.func @store_of_panels
// CHECK-DAG: %[[BYTES:.*]] = arith.constant 2048 : i32
// CHECK-DAG: arith.muli %{{.*}}, %[[BYTES]]
// CHECK: %[[COLUMN:.*]] = arith.addi %arg1
// CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta {{.*}} box[%[[COLUMN]], %arg1]
// CHECK-NOT: nvvm.cp.async.bulk.tensor
// CHECK: llvm.return
tile.kernel @store_of_panels(%d: !tile.desc<16x128xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}, %i: i32) attributes {num_warps = 8 : i32, shared_bytes = 4096 : i64} {
  %b = cta.alloc at 0 : !cta.buffer<16x128xf16, #panels>
  cta.tma_store %b, %d[%i, %i] {groups = 2 : i32} : !cta.buffer<16x128xf16, #panels>, !tile.desc<16x128xf16>
  tile.return
}

#rows = #cta.layout<[256, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [64, 0], [128, 0]]>
#narrow = #cta.layout<[8, 256], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 8], [4, 16], [0, 32], [0, 64], [0, 128]]>
// 160 rows are one box, 160 columns are five: the announced bytes are those that arrive.
// CHECK-LABEL: llvm.func @blocks_of_160
// CHECK: %[[ROWS:.*]] = arith.constant 20480 : i32
// CHECK: nvvm.mbarrier.arrive.expect_tx {{.*}}, %[[ROWS]]
// CHECK-COUNT-1: nvvm.cp.async.bulk.tensor.shared.cluster.global
// CHECK: %[[COLUMNS:.*]] = arith.constant 2560 : i32
// CHECK: nvvm.mbarrier.arrive.expect_tx {{.*}}, %[[COLUMNS]]
// CHECK-COUNT-5: nvvm.cp.async.bulk.tensor.shared.cluster.global
// CHECK-NOT: nvvm.cp.async.bulk.tensor
// CHECK: llvm.return
tile.kernel @blocks_of_160(%d: !tile.desc<160x64xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}, %e: !tile.desc<8x160xf16> {tile.tensor_map = #tile.tensor_map<base = "b">}, %i: i32) attributes {shared_bytes = 32768 : i64} {
  %b = cta.alloc at 0 : !cta.buffer<160x64xf16, #rows>
  %c = cta.alloc at 20480 : !cta.buffer<8x160xf16, #narrow>
  %m = cta.mbarrier_alloc arrivals 1 at 32000 : !cta.mbarrier<1>
  %n = cta.mbarrier_alloc arrivals 1 at 32008 : !cta.mbarrier<1>
  cta.tma_load_sync %d[%i, %i], %b, %m : !tile.desc<160x64xf16>, !cta.buffer<160x64xf16, #rows>, !cta.mbarrier<1>
  cta.tma_load_sync %e[%i, %i], %c, %n : !tile.desc<8x160xf16>, !cta.buffer<8x160xf16, #narrow>, !cta.mbarrier<1>
  tile.return
}
