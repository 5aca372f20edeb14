// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-pipeline))' | FileCheck %s

#row = #cta.layout<[1024], register = [[1], [2], [4]], lane = [[8], [16], [32], [64], [128]], warp = [[256], [512]]>

// The next row is loaded first, if there is one. The address of the store is computed again, so that only the row is
// carried across iterations.
// CHECK-LABEL: tile.kernel @rows
// CHECK: %[[FIRST:.*]] = tile.load
// CHECK: scf.for {{.*}} iter_args(%[[ROW:.*]] = %[[FIRST]]) -> (tensor<1024xf32, #{{.*}}>)
// CHECK: %[[NEXT:.*]] = tile.load %{{.*}} mask
// CHECK: tile.reduce %[[ROW]]
// CHECK: tile.addptr
// CHECK: tile.store %{{.*}}, %[[ROW]]
// CHECK: scf.yield %[[NEXT]]
tile.kernel @rows(%x: !tile.ptr<f32> {tile.name = "x"}, %y: !tile.ptr<f32> {tile.name = "y"}, %n: i32) attributes {num_warps = 4 : i32, num_stages = 3 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c1024 = arith.constant 1024 : i32
  %columns = tile.arange 0 to 1024 : tensor<1024xi32, #row>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %first = arith.muli %i, %c1024 : i32
    %from = tile.addptr %x, %first : !tile.ptr<f32>, i32
    %s = tile.splat %from : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>, #row>
    %p = tile.addptr %s, %columns : tensor<1024x!tile.ptr<f32>, #row>, tensor<1024xi32, #row>
    %v = tile.load %p : tensor<1024x!tile.ptr<f32>, #row>
    %sum = tile.reduce %v {axis = 0 : i32} : tensor<1024xf32, #row> -> f32 {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tile.yield %c : f32
    }
    %to = tile.addptr %y, %first : !tile.ptr<f32>, i32
    %t = tile.splat %to : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>, #row>
    %q = tile.addptr %t, %columns : tensor<1024x!tile.ptr<f32>, #row>, tensor<1024xi32, #row>
    tile.store %q, %v : tensor<1024x!tile.ptr<f32>, #row>
    tile.store %to, %sum : !tile.ptr<f32>
  }
  tile.return
}

// An iteration writes what the next one reads.
// CHECK-LABEL: tile.kernel @negative_written
// CHECK-NOT: tile.load
// CHECK: scf.for
// CHECK-NOT: iter_args
// CHECK: tile.load
tile.kernel @negative_written(%x: !tile.ptr<f32> {tile.name = "x"}, %n: i32) attributes {num_warps = 4 : i32, num_stages = 3 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %columns = tile.arange 0 to 1024 : tensor<1024xi32, #row>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %from = tile.addptr %x, %i : !tile.ptr<f32>, i32
    %s = tile.splat %from : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>, #row>
    %p = tile.addptr %s, %columns : tensor<1024x!tile.ptr<f32>, #row>, tensor<1024xi32, #row>
    %v = tile.load %p : tensor<1024x!tile.ptr<f32>, #row>
    tile.store %p, %v : tensor<1024x!tile.ptr<f32>, #row>
  }
  tile.return
}

// A barrier of the program, after which the writes of others can be read.
// CHECK-LABEL: tile.kernel @negative_barrier
// CHECK-NOT: tile.load
// CHECK: scf.for
// CHECK: tile.barrier
// CHECK: tile.load
tile.kernel @negative_barrier(%x: !tile.ptr<f32> {tile.name = "x"}, %n: i32) attributes {num_warps = 4 : i32, num_stages = 3 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %columns = tile.arange 0 to 1024 : tensor<1024xi32, #row>
  %zero = arith.constant dense<0.0> : tensor<1024xf32, #row>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%t = %zero) -> (tensor<1024xf32, #row>) : i32 {
    tile.barrier
    %from = tile.addptr %x, %i : !tile.ptr<f32>, i32
    %s = tile.splat %from : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>, #row>
    %p = tile.addptr %s, %columns : tensor<1024x!tile.ptr<f32>, #row>, tensor<1024xi32, #row>
    %v = tile.load %p : tensor<1024x!tile.ptr<f32>, #row>
    %u = arith.addf %t, %v : tensor<1024xf32, #row>
    scf.yield %u : tensor<1024xf32, #row>
  }
  tile.print "" %sum : tensor<1024xf32, #row>
  tile.return
}

#sums = #cta.layout<[8192], register = [[1], [2], [4], [1024], [2048], [4096]], lane = [[8], [16], [32], [64], [128]], warp = [[256], [512]]>

// Sums of 64 registers leave few threads anyway, so that more registers are used for loaded values.
// CHECK-LABEL: tile.kernel @many_sums
// CHECK: tile.load
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[ROW:.*]] = %{{.*}})
// CHECK: tile.load %{{.*}} mask
// CHECK: arith.addf %{{.*}}, %[[ROW]]
tile.kernel @many_sums(%x: !tile.ptr<f32> {tile.name = "x"}, %y: !tile.ptr<f32> {tile.name = "y"}, %n: i32) attributes {num_warps = 4 : i32, num_stages = 3 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8192 = arith.constant 8192 : i32
  %zero = arith.constant dense<0.0> : tensor<8192xf32, #sums>
  %columns = tile.arange 0 to 8192 : tensor<8192xi32, #sums>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<8192xf32, #sums>) : i32 {
    %first = arith.muli %i, %c8192 : i32
    %from = tile.addptr %x, %first : !tile.ptr<f32>, i32
    %s = tile.splat %from : !tile.ptr<f32> -> tensor<8192x!tile.ptr<f32>, #sums>
    %p = tile.addptr %s, %columns : tensor<8192x!tile.ptr<f32>, #sums>, tensor<8192xi32, #sums>
    %v = tile.load %p : tensor<8192x!tile.ptr<f32>, #sums>
    %next = arith.addf %sum, %v : tensor<8192xf32, #sums>
    scf.yield %next : tensor<8192xf32, #sums>
  }
  %t = tile.splat %y : !tile.ptr<f32> -> tensor<8192x!tile.ptr<f32>, #sums>
  %q = tile.addptr %t, %columns : tensor<8192x!tile.ptr<f32>, #sums>, tensor<8192xi32, #sums>
  tile.store %q, %r : tensor<8192x!tile.ptr<f32>, #sums>
  tile.return
}

#operand = #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
#acc = #cta.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>

// The factor of an MMA's result is ready when the MMA is. It is used before the next factor, which is loaded while the
// MMA runs, takes its registers.
// CHECK-LABEL: tile.kernel @factor
// CHECK: %[[FIRST:.*]] = tile.load
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[FACTOR:.*]] = %[[FIRST]])
// CHECK: cta.wgmma %
// CHECK-NEXT: tile.splat %[[FACTOR]]
// CHECK: %[[NEXT:.*]] = tile.load %{{.*}} mask
// CHECK: cta.await
// CHECK: scf.yield %{{.*}}, %[[NEXT]]
tile.kernel @factor(%x: !tile.ptr<f32> {tile.name = "x"}, %n: i32) attributes {num_warps = 4 : i32, num_stages = 3 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %a = cta.alloc : <64x64xf16, #operand>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%so_far = %zero) -> (tensor<64x64xf32, #acc>) : i32 {
    %p = tile.addptr %x, %i : !tile.ptr<f32>, i32
    %factor = tile.load %p : !tile.ptr<f32>
    %flying, %flying_t = cta.wgmma %a, %a, %zero {n = 64 : i32} : !cta.buffer<64x64xf16, #operand>, !cta.buffer<64x64xf16, #operand> -> tensor<64x64xf32, #acc>
    %part = cta.await %flying after %flying_t : tensor<64x64xf32, #acc>
    %factors = tile.splat %factor : f32 -> tensor<64x64xf32, #acc>
    %scaled = arith.mulf %part, %factors : tensor<64x64xf32, #acc>
    %next = arith.addf %so_far, %scaled : tensor<64x64xf32, #acc>
    scf.yield %next : tensor<64x64xf32, #acc>
  }
  tile.print "" %sum : tensor<64x64xf32, #acc>
  tile.return
}

// The same with several MMAs.
// CHECK-LABEL: tile.kernel @dots
// CHECK: %[[FIRST:.*]] = tile.load
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[FACTOR:.*]] = %[[FIRST]])
// CHECK: cta.wgmma %
// CHECK: %[[NEXT:.*]] = tile.load %{{.*}} mask
// CHECK: arith.mulf
// CHECK: cta.wgmma %
// CHECK: scf.yield %{{.*}}, %[[NEXT]]
tile.kernel @dots(%x: !tile.ptr<f32> {tile.name = "x"}, %n: i32) attributes {num_warps = 4 : i32, num_stages = 3 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %a = cta.alloc : <64x64xf16, #operand>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%so_far = %zero) -> (tensor<64x64xf32, #acc>) : i32 {
    %p = tile.addptr %x, %i : !tile.ptr<f32>, i32
    %factor = tile.load %p : !tile.ptr<f32>
    %flying, %flying_t = cta.wgmma %a, %a, %zero {n = 64 : i32} : !cta.buffer<64x64xf16, #operand>, !cta.buffer<64x64xf16, #operand> -> tensor<64x64xf32, #acc>
    %part = cta.await %flying after %flying_t : tensor<64x64xf32, #acc>
    %factors = tile.splat %factor : f32 -> tensor<64x64xf32, #acc>
    %scaled = arith.mulf %part, %factors : tensor<64x64xf32, #acc>
    %left = arith.truncf %scaled : tensor<64x64xf32, #acc> to tensor<64x64xf16, #acc>
    %second, %second_t = cta.wgmma %left, %a, %so_far {n = 64 : i32} : tensor<64x64xf16, #acc>, !cta.buffer<64x64xf16, #operand> -> tensor<64x64xf32, #acc>
    %next = cta.await %second after %second_t : tensor<64x64xf32, #acc>
    scf.yield %next : tensor<64x64xf32, #acc>
  }
  tile.print "" %sum : tensor<64x64xf32, #acc>
  tile.return
}

// Other ordered operations keep their order.
// CHECK-LABEL: tile.kernel @negative_barrier_beside
// CHECK-NOT: tile.load
// CHECK: scf.for
// CHECK: tile.load
tile.kernel @negative_barrier_beside(%x: !tile.ptr<f32> {tile.name = "x"}, %n: i32) attributes {num_warps = 4 : i32, num_stages = 3 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %a = cta.alloc : <64x64xf16, #operand>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%so_far = %zero) -> (tensor<64x64xf32, #acc>) : i32 {
    %p = tile.addptr %x, %i : !tile.ptr<f32>, i32
    %factor = tile.load %p : !tile.ptr<f32>
    tile.barrier
    %flying, %flying_t = cta.wgmma %a, %a, %so_far {n = 64 : i32} : !cta.buffer<64x64xf16, #operand>, !cta.buffer<64x64xf16, #operand> -> tensor<64x64xf32, #acc>
    %part = cta.await %flying after %flying_t : tensor<64x64xf32, #acc>
    scf.yield %part : tensor<64x64xf32, #acc>
  }
  tile.print "" %sum : tensor<64x64xf32, #acc>
  tile.return
}

// If the operands depend on a loaded value, such as the index of a block, the next such value is loaded first.
// CHECK-LABEL: tile.kernel @place
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[PLACE:.*]] = %{{.*}})
// CHECK: %[[NEXT:.*]] = tile.load %{{.*}} mask
// CHECK: cta.tma_load_sync %{{.*}}[%[[PLACE]],
// CHECK: cta.wgmma %
// CHECK: scf.yield %{{.*}}, %[[NEXT]]
tile.kernel @place(%x: !tile.ptr<i32> {tile.name = "x"}, %d: !tile.desc<64x64xf16> {tile.tensor_map = #tile.tensor_map<base = "a", box = [64, 64], swizzle = 128>}, %n: i32) attributes {num_warps = 4 : i32, num_stages = 3 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%so_far = %zero) -> (tensor<64x64xf32, #acc>) : i32 {
    %p = tile.addptr %x, %i : !tile.ptr<i32>, i32
    %place = tile.load %p : !tile.ptr<i32>
    %a = cta.alloc : <64x64xf16, #operand>
    %m = cta.mbarrier_alloc arrivals 1 : <1>
    cta.tma_load_sync %d[%place, %c0], %a, %m : <64x64xf16>, <64x64xf16, #operand>, <1>
    %flying, %flying_t = cta.wgmma %a, %a, %so_far {n = 64 : i32} : !cta.buffer<64x64xf16, #operand>, !cta.buffer<64x64xf16, #operand> -> tensor<64x64xf32, #acc>
    %part = cta.await %flying after %flying_t : tensor<64x64xf32, #acc>
    scf.yield %part : tensor<64x64xf32, #acc>
  }
  tile.print "" %sum : tensor<64x64xf32, #acc>
  tile.return
}

#few = #cta.layout<[512], register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = [[128], [256]]>

// A short loop that neither reduces nor stores: the loads of four iterations at once, and the remainder.
// CHECK-LABEL: tile.kernel @short
// CHECK: scf.for
// CHECK-COUNT-4: tile.load
// CHECK: scf.for
// CHECK: tile.load
// CHECK-NOT: tile.load
// CHECK: tile.return
tile.kernel @short(%x: !tile.ptr<i32> {tile.name = "x"}, %y: !tile.ptr<i32> {tile.name = "y"}, %n: i32) attributes {num_warps = 4 : i32, num_stages = 3 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c512 = arith.constant 512 : i32
  %zero = arith.constant dense<0> : tensor<512xi32, #few>
  %columns = tile.arange 0 to 512 : tensor<512xi32, #few>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<512xi32, #few>) : i32 {
    %first = arith.muli %i, %c512 : i32
    %from = tile.addptr %x, %first : !tile.ptr<i32>, i32
    %s = tile.splat %from : !tile.ptr<i32> -> tensor<512x!tile.ptr<i32>, #few>
    %p = tile.addptr %s, %columns : tensor<512x!tile.ptr<i32>, #few>, tensor<512xi32, #few>
    %v = tile.load %p : tensor<512x!tile.ptr<i32>, #few>
    %next = arith.addi %sum, %v : tensor<512xi32, #few>
    scf.yield %next : tensor<512xi32, #few>
  }
  %t = tile.splat %y : !tile.ptr<i32> -> tensor<512x!tile.ptr<i32>, #few>
  %q = tile.addptr %t, %columns : tensor<512x!tile.ptr<i32>, #few>, tensor<512xi32, #few>
  tile.store %q, %r : tensor<512x!tile.ptr<i32>, #few>
  tile.return
}

// Threads synchronize to count elements: iterations stay separate.
// CHECK-LABEL: tile.kernel @counted
// CHECK: scf.for
// CHECK: tile.histogram
// CHECK-NOT: tile.histogram
// CHECK: tile.return
tile.kernel @counted(%x: !tile.ptr<i32> {tile.name = "x"}, %y: !tile.ptr<i32> {tile.name = "y"}, %n: i32) attributes {num_warps = 4 : i32, num_stages = 3 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c512 = arith.constant 512 : i32
  %zero = arith.constant dense<0> : tensor<512xi32, #few>
  %columns = tile.arange 0 to 512 : tensor<512xi32, #few>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<512xi32, #few>) : i32 {
    %first = arith.muli %i, %c512 : i32
    %from = tile.addptr %x, %first : !tile.ptr<i32>, i32
    %s = tile.splat %from : !tile.ptr<i32> -> tensor<512x!tile.ptr<i32>, #few>
    %p = tile.addptr %s, %columns : tensor<512x!tile.ptr<i32>, #few>, tensor<512xi32, #few>
    %v = tile.load %p : tensor<512x!tile.ptr<i32>, #few>
    %counts = tile.histogram %v : tensor<512xi32, #few> -> tensor<512xi32, #few>
    %next = arith.addi %sum, %counts : tensor<512xi32, #few>
    scf.yield %next : tensor<512xi32, #few>
  }
  %t = tile.splat %y : !tile.ptr<i32> -> tensor<512x!tile.ptr<i32>, #few>
  %q = tile.addptr %t, %columns : tensor<512x!tile.ptr<i32>, #few>, tensor<512xi32, #few>
  tile.store %q, %r : tensor<512x!tile.ptr<i32>, #few>
  tile.return
}
