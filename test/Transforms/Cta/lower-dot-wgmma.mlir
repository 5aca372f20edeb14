// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-settle-engine,cta-assign-layouts,cta-lower-descriptors,cta-lower-dot))' --mlir-print-local-scope | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(cta-attach-target{name=sm_120a},tile.kernel(tile-settle-engine,cta-assign-layouts,cta-lower-descriptors,cta-lower-dot))' --mlir-print-local-scope | FileCheck %s --check-prefix=OTHER
// OTHER-NOT: cta.wgmma

// TMA loads both operands: warp groups multiply from shared memory, and nothing is read into registers. An operand that
// was read transposed is a transposed view.
// CHECK-LABEL: tile.kernel @orders
// CHECK: cta.tma_load_sync %arg1[%arg0, %arg0], %[[A:[^,]*]],
// CHECK: %[[AT:.*]] = cta.trans_buffer %[[A]]
// CHECK: cta.tma_load_sync %arg2[%arg0, %arg0], %[[B:[^,]*]],
// CHECK: %[[BT:.*]] = cta.trans_buffer %[[B]]
// CHECK-NOT: cta.local_load
// CHECK: %[[D:.*]], %[[T:.*]] = cta.wgmma %[[A]], %[[B]], %{{.*}} {n = 128 : i32}
// CHECK: cta.await %[[D]] after %[[T]]
// CHECK: cta.wgmma %[[AT]], %[[BT]], %{{.*}} {n = 128 : i32}
tile.kernel @orders(%i: i32, %d: !tile.desc<128x128xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}, %e: !tile.desc<128x128xf16> {tile.tensor_map = #tile.tensor_map<base = "b">}) {
  %z = arith.constant dense<0.0> : tensor<128x128xf32>
  %a = tile.desc_load %d[%i, %i] : !tile.desc<128x128xf16> -> tensor<128x128xf16>
  %b = tile.desc_load %e[%i, %i] : !tile.desc<128x128xf16> -> tensor<128x128xf16>
  %c = tile.dot %a, %b, %z : tensor<128x128xf16>, tensor<128x128xf16> -> tensor<128x128xf32>
  %at = tile.trans %a {order = array<i32: 1, 0>} : tensor<128x128xf16> -> tensor<128x128xf16>
  %bt = tile.trans %b {order = array<i32: 1, 0>} : tensor<128x128xf16> -> tensor<128x128xf16>
  %f = tile.dot %at, %bt, %c : tensor<128x128xf16>, tensor<128x128xf16> -> tensor<128x128xf32>
  tile.print "" %f : tensor<128x128xf32>
  tile.return
}

// One block may be used as both operands.
// CHECK-LABEL: tile.kernel @square
// CHECK: cta.tma_load_sync %arg1[%arg0, %arg0], %[[A:[^,]*]],
// CHECK-NOT: cta.local_load
// CHECK: %[[AT:.*]] = cta.trans_buffer %[[A]]
// CHECK: cta.wgmma %[[AT]], %[[A]],
tile.kernel @square(%i: i32, %d: !tile.desc<64x64xbf16> {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = tile.desc_load %d[%i, %i] : !tile.desc<64x64xbf16> -> tensor<64x64xbf16>
  %at = tile.trans %a {order = array<i32: 1, 0>} : tensor<64x64xbf16> -> tensor<64x64xbf16>
  %f = tile.dot %at, %a, %z : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
  tile.print "" %f : tensor<64x64xf32>
  tile.return
}

// Warp groups are placed along m while each has 64 rows, the others along n: 2 x 2 of 64 x 128.
// CHECK-LABEL: tile.kernel @groups
// CHECK: cta.wgmma {{.*}} {groups_n = 2 : i32, n = 128 : i32} {{.*}} warp = {{\[}}[16, 0], [32, 0], [64, 0], [0, 128]]
tile.kernel @groups(%i: i32, %d: !tile.desc<128x64xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}, %e: !tile.desc<64x256xf16> {tile.tensor_map = #tile.tensor_map<base = "b">}) attributes {num_warps = 16 : i32} {
  %z = arith.constant dense<0.0> : tensor<128x256xf32>
  %a = tile.desc_load %d[%i, %i] : !tile.desc<128x64xf16> -> tensor<128x64xf16>
  %b = tile.desc_load %e[%i, %i] : !tile.desc<64x256xf16> -> tensor<64x256xf16>
  %c = tile.dot %a, %b, %z : tensor<128x64xf16>, tensor<64x256xf16> -> tensor<128x256xf32>
  tile.print "" %c : tensor<128x256xf32>
  tile.return
}

// 8-bit operands have k contiguous: b is read transposed, or stored transposed.
// CHECK-LABEL: tile.kernel @bytes
// CHECK: cta.local_store
// CHECK: cta.wgmma
// CHECK: cta.await
// CHECK: cta.wgmma
tile.kernel @bytes(%i: i32, %d: !tile.desc<64x64xi8> {tile.tensor_map = #tile.tensor_map<base = "a">}, %e: !tile.desc<64x64xi8> {tile.tensor_map = #tile.tensor_map<base = "b">}) {
  %z = arith.constant dense<0> : tensor<64x64xi32>
  %a = tile.desc_load %d[%i, %i] : !tile.desc<64x64xi8> -> tensor<64x64xi8>
  %b = tile.desc_load %e[%i, %i] : !tile.desc<64x64xi8> -> tensor<64x64xi8>
  %bt = tile.trans %b {order = array<i32: 1, 0>} : tensor<64x64xi8> -> tensor<64x64xi8>
  %c = tile.dot %a, %bt, %z : tensor<64x64xi8>, tensor<64x64xi8> -> tensor<64x64xi32>
  %n_contiguous = tile.dot %a, %b, %c : tensor<64x64xi8>, tensor<64x64xi8> -> tensor<64x64xi32>
  tile.print "" %n_contiguous : tensor<64x64xi32>
  tile.return
}

// CHECK-LABEL: tile.kernel @negative_few_rows
// CHECK-NOT: cta.wgmma
// CHECK: cta.mma_sync
tile.kernel @negative_few_rows(%i: i32, %d: !tile.desc<32x64xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}, %e: !tile.desc<64x64xf16> {tile.tensor_map = #tile.tensor_map<base = "b">}) {
  %z = arith.constant dense<0.0> : tensor<32x64xf32>
  %a = tile.desc_load %d[%i, %i] : !tile.desc<32x64xf16> -> tensor<32x64xf16>
  %b = tile.desc_load %e[%i, %i] : !tile.desc<64x64xf16> -> tensor<64x64xf16>
  %c = tile.dot %a, %b, %z : tensor<32x64xf16>, tensor<64x64xf16> -> tensor<32x64xf32>
  tile.print "" %c : tensor<32x64xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @negative_half_a_group
// CHECK-NOT: cta.wgmma
// CHECK: cta.mma_sync
tile.kernel @negative_half_a_group(%i: i32, %d: !tile.desc<64x64xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}) attributes {num_warps = 2 : i32} {
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = tile.desc_load %d[%i, %i] : !tile.desc<64x64xf16> -> tensor<64x64xf16>
  %c = tile.dot %a, %a, %z : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.print "" %c : tensor<64x64xf32>
  tile.return
}

// Rows of b of 16 bytes have no swizzle that a matrix descriptor can express; with k contiguous, they do.
// CHECK-LABEL: tile.kernel @negative_narrow
// CHECK-NOT: cta.wgmma
// CHECK: cta.mma_sync
// CHECK: cta.wgmma {{.*}} {n = 8 : i32}
tile.kernel @negative_narrow(%i: i32, %d: !tile.desc<64x64xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}, %e: !tile.desc<64x8xf16> {tile.tensor_map = #tile.tensor_map<base = "b">},
                             %f: !tile.desc<8x64xf16> {tile.tensor_map = #tile.tensor_map<base = "b">}) {
  %z = arith.constant dense<0.0> : tensor<64x8xf32>
  %a = tile.desc_load %d[%i, %i] : !tile.desc<64x64xf16> -> tensor<64x64xf16>
  %b = tile.desc_load %e[%i, %i] : !tile.desc<64x8xf16> -> tensor<64x8xf16>
  %c = tile.dot %a, %b, %z : tensor<64x64xf16>, tensor<64x8xf16> -> tensor<64x8xf32>
  %g = tile.desc_load %f[%i, %i] : !tile.desc<8x64xf16> -> tensor<8x64xf16>
  %gt = tile.trans %g {order = array<i32: 1, 0>} : tensor<8x64xf16> -> tensor<64x8xf16>
  %h = tile.dot %a, %gt, %c : tensor<64x64xf16>, tensor<64x8xf16> -> tensor<64x8xf32>
  tile.print "" %h : tensor<64x8xf32>
  tile.return
}

// A computed value is stored.
// CHECK-LABEL: tile.kernel @computed
// CHECK: cta.local_store %{{.*}}, %[[BUFFER:[^ ]*]] :
// CHECK-NOT: cta.local_load %[[BUFFER]]
// CHECK: cta.wgmma %{{[^ ]*}}, %[[BUFFER]],
tile.kernel @computed(%i: i32, %d: !tile.desc<64x64xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = tile.desc_load %d[%i, %i] : !tile.desc<64x64xf16> -> tensor<64x64xf16>
  %b = arith.negf %a : tensor<64x64xf16>
  %c = tile.dot %a, %b, %z : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.print "" %c : tensor<64x64xf32>
  tile.return
}

// f16 accumulators. f32 operands have k contiguous, or threads transpose them, and are rounded to tf32.
// CHECK-LABEL: tile.kernel @types
// CHECK: cta.wgmma {{.*}} -> tensor<64x64xf16
// CHECK: cta.local_store
// CHECK: cta.wgmma {{.*}} -> tensor<64x64xf32
// CHECK: cta.wgmma {{.*}} -> tensor<64x64xf32
// CHECK-NOT: cta.wgmma {
// CHECK: cta.mma_sync
tile.kernel @types(%i: i32, %d: !tile.desc<64x64xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}, %e: !tile.desc<64x64xf32> {tile.tensor_map = #tile.tensor_map<base = "b">}) {
  %z = arith.constant dense<0.0> : tensor<64x64xf16>
  %a = tile.desc_load %d[%i, %i] : !tile.desc<64x64xf16> -> tensor<64x64xf16>
  %c = tile.dot %a, %a, %z : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf16>
  tile.print "" %c : tensor<64x64xf16>
  %y = arith.constant dense<0.0> : tensor<64x64xf32>
  %b = tile.desc_load %e[%i, %i] : !tile.desc<64x64xf32> -> tensor<64x64xf32>
  %t = tile.trans %b {order = array<i32: 1, 0>} : tensor<64x64xf32> -> tensor<64x64xf32>
  %f = tile.dot %b, %t, %y : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %n_contiguous = tile.dot %b, %b, %f : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %negative_precise = tile.dot %b, %t, %n_contiguous {precision = #tile<precision tf32x3>} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  tile.print "" %negative_precise : tensor<64x64xf32>
  tile.return
}

// 8-bit floats: partial sums of that many terms are promoted, in whole instructions, of at most 128 columns; or none.
// mma.sync adds those of one block separately.
// CHECK-LABEL: tile.kernel @promoted
// CHECK: cta.wgmma {{.*}} {n = 256 : i32} {{.*}}f8E5M2{{.*}}f8E4M3FN
// CHECK: cta.wgmma {{.*}} {n = 128 : i32, promote = 32 : i32}
// CHECK: cta.wgmma {{.*}} {n = 128 : i32, promote = 64 : i32}
// OTHER-LABEL: tile.kernel @promoted
// OTHER: cta.mma_sync
// OTHER: %[[P:.*]] = cta.mma_sync {{.*}}, %cst{{[_0-9]*}} {
// OTHER: arith.addf %[[P]], %
tile.kernel @promoted(%i: i32, %d: !tile.desc<64x64xf8E5M2> {tile.tensor_map = #tile.tensor_map<base = "a">}, %e: !tile.desc<256x64xf8E4M3FN> {tile.tensor_map = #tile.tensor_map<base = "b">}) {
  %z = arith.constant dense<0.0> : tensor<64x256xf32>
  %a = tile.desc_load %d[%i, %i] : !tile.desc<64x64xf8E5M2> -> tensor<64x64xf8E5M2>
  %b = tile.desc_load %e[%i, %i] : !tile.desc<256x64xf8E4M3FN> -> tensor<256x64xf8E4M3FN>
  %t = tile.trans %b {order = array<i32: 1, 0>} : tensor<256x64xf8E4M3FN> -> tensor<64x256xf8E4M3FN>
  %f = tile.dot %a, %t, %z {max_num_imprecise_acc = 65 : i32} : tensor<64x64xf8E5M2>, tensor<64x256xf8E4M3FN> -> tensor<64x256xf32>
  %g = tile.dot %a, %t, %f {max_num_imprecise_acc = 0 : i32} : tensor<64x64xf8E5M2>, tensor<64x256xf8E4M3FN> -> tensor<64x256xf32>
  %h = tile.dot %a, %t, %g {max_num_imprecise_acc = 33 : i32} : tensor<64x64xf8E5M2>, tensor<64x256xf8E4M3FN> -> tensor<64x256xf32>
  tile.print "" %h : tensor<64x256xf32>
  tile.return
}

// A left operand that another MMA produced stays in registers, in the accumulator's layout.
// CHECK-LABEL: tile.kernel @registers
// CHECK: %[[S:.*]] = cta.await
// CHECK: %[[L:.*]] = arith.truncf {{.*}} to tensor<64x64xf16, #cta.layout<[64, 64], register = {{\[}}[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = {{\[}}[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = {{\[}}[16, 0], [32, 0]]>>
// CHECK: cta.wgmma %[[L]], %{{.*}}, %{{.*}} {n = 64 : i32} : tensor
tile.kernel @registers(%i: i32, %d: !tile.desc<64x64xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = tile.desc_load %d[%i, %i] : !tile.desc<64x64xf16> -> tensor<64x64xf16>
  %s = tile.dot %a, %a, %z : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  %p = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
  %o = tile.dot %p, %a, %z : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.print "" %o : tensor<64x64xf32>
  tile.return
}

// A loaded operand is stored for wgmma.
// CHECK-LABEL: tile.kernel @loaded
// CHECK: cta.local_store %{{.*}}, %[[BUFFER:[^ ]*]] :
// CHECK: cta.wgmma %[[BUFFER]], %{{[^ ]*}},
tile.kernel @loaded(%i: i32, %p: !tile.ptr<f16>, %d: !tile.desc<64x64xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %ps = tile.splat %p : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %a = tile.load %ps : tensor<64x64x!tile.ptr<f16>>
  %b = tile.desc_load %d[%i, %i] : !tile.desc<64x64xf16> -> tensor<64x64xf16>
  %o = tile.dot %a, %b, %z : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.print "" %o : tensor<64x64xf32>
  tile.return
}

// 160 columns in one instruction, with b in either order. The descriptor's block gives the number.
// CHECK-LABEL: tile.kernel @columns
// CHECK-SAME: box = [64, 64]
// CHECK-SAME: box = [64, 32]
// CHECK-SAME: box = [160, 64]
// CHECK-SAME: swizzle = 128
// CHECK: cta.alloc : <64x160xf16, #cta.layout<[64, 256],
// CHECK: cta.alloc : <160x64xf16, #cta.layout<[256, 64],
// CHECK-NOT: cta.local_load
// CHECK: cta.wgmma {{.*}} {n = 160 : i32} {{.*}} -> tensor<128x256xf32,
// CHECK: cta.await %{{.*}} {columns = 160 : i32}
// CHECK: cta.wgmma {{.*}} {n = 160 : i32} {{.*}} -> tensor<128x256xf32,
tile.kernel @columns(%i: i32, %d: !tile.desc<128x64xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}, %e: !tile.desc<64x160xf16> {tile.tensor_map = #tile.tensor_map<base = "b">}, %f: !tile.desc<160x64xf16> {tile.tensor_map = #tile.tensor_map<base = "c">}) {
  %z = arith.constant dense<0.0> : tensor<128x256xf32>
  %a = tile.desc_load %d[%i, %i] : !tile.desc<128x64xf16> -> tensor<128x64xf16>
  %b = tile.desc_load %e[%i, %i] : !tile.desc<64x160xf16> -> tensor<64x256xf16>
  %c = tile.desc_load %f[%i, %i] : !tile.desc<160x64xf16> -> tensor<256x64xf16>
  %ct = tile.trans %c {order = array<i32: 1, 0>} : tensor<256x64xf16> -> tensor<64x256xf16>
  %x = tile.dot %a, %b, %z : tensor<128x64xf16>, tensor<64x256xf16> -> tensor<128x256xf32>
  %y = tile.dot %a, %ct, %x : tensor<128x64xf16>, tensor<64x256xf16> -> tensor<128x256xf32>
  tile.print "" %y : tensor<128x256xf32>
  tile.return
}

// Threads that also read an operand do so after the MMA is issued, where they need the operand.
// CHECK-LABEL: tile.kernel @read
// CHECK-NOT: cta.local_load
// CHECK: cta.await
// CHECK: scf.if
// CHECK-NEXT: cta.local_load {{.*}} register = {{\[}}[0, 1], [0, 2], [0, 4]
tile.kernel @read(%i: i32, %d: !tile.desc<64x64xbf16> {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = tile.desc_load %d[%i, %i] : !tile.desc<64x64xbf16> -> tensor<64x64xbf16>
  %f = tile.dot %a, %a, %z : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
  tile.print "" %f : tensor<64x64xf32>
  %zero = arith.constant 0 : i32
  %prints = arith.cmpi eq, %i, %zero : i32
  scf.if %prints {
    %wide = arith.extf %a : tensor<64x64xbf16> to tensor<64x64xf32>
    tile.print "" %wide : tensor<64x64xf32>
  }
  tile.return
}
