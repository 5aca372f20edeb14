// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-settle-engine,cta-assign-layouts))' --mlir-print-local-scope | FileCheck %s

// Operands keep the layout of their loads, because warp groups read them from shared memory; the accumulator has the
// layout of the instruction m64n128.
// CHECK-LABEL: tile.kernel @dot
// CHECK: %[[A:.*]] = tile.desc_load %arg1
// CHECK: %[[B:.*]] = tile.desc_load %arg2
// CHECK: tile.dot %[[A]], %[[B]], {{.*}} -> tensor<64x128xf32, #cta.layout<[64, 128], register = {{\[}}[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = {{\[}}[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = {{\[}}[16, 0], [32, 0]]>>
tile.kernel @dot(%i: i32, %d: !tile.desc<64x64xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}, %e: !tile.desc<64x128xf16> {tile.tensor_map = #tile.tensor_map<base = "b">}) {
  %z = arith.constant dense<0.0> : tensor<64x128xf32>
  %a = tile.desc_load %d[%i, %i] : !tile.desc<64x64xf16> -> tensor<64x64xf16>
  %b = tile.desc_load %e[%i, %i] : !tile.desc<64x128xf16> -> tensor<64x128xf16>
  %c = tile.dot %a, %b, %z : tensor<64x64xf16>, tensor<64x128xf16> -> tensor<64x128xf32>
  tile.print "" %c : tensor<64x128xf32>
  tile.return
}

// A computed operand is stored in the layout in which it is computed.
// CHECK-LABEL: tile.kernel @computed
// CHECK: %[[A:.*]] = tile.desc_load
// CHECK: %[[N:.*]] = arith.negf
// CHECK-NEXT: %[[BUFFER:.*]] = cta.alloc
// CHECK-NEXT: cta.local_store %[[N]], %[[BUFFER]]
// CHECK-NEXT: cta.proxy_fence
// CHECK: %[[B:.*]] = cta.local_load %[[BUFFER]]
// CHECK-NEXT: tile.dot %[[A]], %[[B]],
tile.kernel @computed(%i: i32, %d: !tile.desc<64x64xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = tile.desc_load %d[%i, %i] : !tile.desc<64x64xf16> -> tensor<64x64xf16>
  %b = arith.negf %a : tensor<64x64xf16>
  %c = tile.dot %a, %b, %z : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.print "" %c : tensor<64x64xf32>
  tile.return
}

// Two dots read one buffer, the second its transposed view. A block loaded along the first dimension is contiguous there.
// CHECK-LABEL: tile.kernel @shared
// CHECK: %[[X:.*]] = tile.load
// CHECK-NEXT: %[[BUFFER:.*]] = cta.alloc : <64x64xf16, #cta.layout<[64, 64], offset = {{\[}}[1, 0],
// CHECK-NEXT: cta.local_store %[[X]], %[[BUFFER]]
// CHECK-NOT: cta.local_store
// CHECK: cta.local_load %[[BUFFER]]
// CHECK: %[[VIEW:.*]] = cta.trans_buffer %[[BUFFER]]
// CHECK: cta.local_load %[[VIEW]]
tile.kernel @shared(%p: !tile.ptr<f16> {tile.divisibility = 16 : i32}) {
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = tile.arange 0 to 64 : tensor<64xi32>
  %row = tile.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %col = tile.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %rows = tile.broadcast %row : tensor<64x1xi32> -> tensor<64x64xi32>
  %cols = tile.broadcast %col : tensor<1x64xi32> -> tensor<64x64xi32>
  %c64 = arith.constant dense<64> : tensor<64x64xi32>
  %scaled = arith.muli %cols, %c64 : tensor<64x64xi32>
  %o = arith.addi %scaled, %rows : tensor<64x64xi32>
  %base = tile.splat %p : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %q = tile.addptr %base, %o : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  %x = tile.load %q : tensor<64x64x!tile.ptr<f16>>
  %c = tile.dot %x, %x, %z : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  %t = tile.trans %x {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
  %d = tile.dot %x, %t, %c : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.print "" %d : tensor<64x64xf32>
  tile.return
}

// A vector of statistics next to two dots is loaded by each warp, so that warps need not synchronize.
// CHECK-LABEL: tile.kernel @statistics
// CHECK: tile.load {{.*}} : tensor<64x!tile.ptr<f32>, #cta.layout<[64], {{.*}}warp = {{\[}}[0], [0]]>>
tile.kernel @statistics(%n: i32, %p: !tile.ptr<f32>, %d: !tile.desc<64x64xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %places = tile.arange 0 to 64 : tensor<64xi32>
  %at = tile.addptr %ps, %places : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %z) -> (tensor<64x64xf32>) : i32 {
    %a = tile.desc_load %d[%i, %i] : !tile.desc<64x64xf16> -> tensor<64x64xf16>
    %v = tile.load %at : tensor<64x!tile.ptr<f32>>
    %row = tile.expand_dims %v {axis = 0 : i32} : tensor<64xf32> -> tensor<1x64xf32>
    %rows = tile.broadcast %row : tensor<1x64xf32> -> tensor<64x64xf32>
    %s = tile.dot %a, %a, %z : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %x = arith.subf %s, %rows : tensor<64x64xf32>
    %h = arith.truncf %x : tensor<64x64xf32> to tensor<64x64xf16>
    %o = tile.dot %h, %a, %acc : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %o : tensor<64x64xf32>
  }
  tile.print "" %r : tensor<64x64xf32>
  tile.return
}

// A scale of an operand is loaded four fp32 values per thread, although it has the accumulator's shape; an addend of
// the accumulator, in its layout.
// CHECK-LABEL: tile.kernel @scaled
// CHECK: tile.load {{.*}}, #cta.layout<[64, 64], register = {{\[}}[0, 1], [0, 2], [8, 0]
// CHECK: tile.load {{.*}}, #cta.layout<[64, 64], register = {{\[}}[0, 1], [8, 0], [0, 8]
tile.kernel @scaled(%i: i32, %p: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %d: !tile.desc<64x64xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = tile.arange 0 to 64 : tensor<64xi32>
  %row = tile.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %col = tile.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %rows = tile.broadcast %row : tensor<64x1xi32> -> tensor<64x64xi32>
  %cols = tile.broadcast %col : tensor<1x64xi32> -> tensor<64x64xi32>
  %c64 = arith.constant dense<64> : tensor<64x64xi32>
  %steps = arith.muli %rows, %c64 : tensor<64x64xi32>
  %o = arith.addi %steps, %cols : tensor<64x64xi32>
  %base = tile.splat %p : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %q = tile.addptr %base, %o : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  %a = tile.desc_load %d[%i, %i] : !tile.desc<64x64xf16> -> tensor<64x64xf16>
  %factor = tile.load %q : tensor<64x64x!tile.ptr<f32>>
  %wide = arith.extf %a : tensor<64x64xf16> to tensor<64x64xf32>
  %b = arith.mulf %wide, %factor : tensor<64x64xf32>
  %narrow = arith.truncf %b : tensor<64x64xf32> to tensor<64x64xf16>
  %c = tile.dot %a, %narrow, %z : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  %residual = tile.load %q : tensor<64x64x!tile.ptr<f32>>
  %y = arith.addf %c, %residual : tensor<64x64xf32>
  tile.print "" %y : tensor<64x64xf32>
  tile.return
}
