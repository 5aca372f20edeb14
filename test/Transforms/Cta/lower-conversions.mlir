// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-lower-conversions))' | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(cta-attach-target{name=sm_75},tile.kernel(cta-lower-conversions))' | FileCheck %s --check-prefix=SM75

#rows = #cta.layout<[32, 32], register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = [[8, 0], [16, 0]]>
#many_columns = #cta.layout<[128, 128], register = [[0, 1], [0, 2], [4, 0], [8, 0], [16, 0], [32, 0], [64, 0]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], warp = [[1, 0], [2, 0]]>
#many_rows = #cta.layout<[128, 128], register = [[1, 0], [2, 0], [0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[4, 0], [8, 0], [16, 0], [32, 0], [64, 0]], warp = [[0, 1], [0, 2]]>
#swapped = #cta.layout<[32, 32], register = [[0, 2], [0, 1], [0, 4]], lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = [[8, 0], [16, 0]]>
#columns = #cta.layout<[32, 32], register = [[1, 0], [2, 0], [4, 0]], lane = [[8, 0], [16, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 8], [0, 16]]>
// CHECK-DAG: #[[SHARED:.*]] = #cta.layout<[16], register = {{\[\[}}1], [2]], lane = {{\[\[}}8], [4], [0], [0], [0]], warp = {{\[\[}}0], [0], [0], [0]]>
// CHECK-DAG: #[[GATHERED:.*]] = #cta.layout<[16], register = {{\[\[}}1], [2], [4]], lane = {{\[\[}}8], [0], [0], [0], [0]], warp = {{\[\[}}0], [0], [0], [0]]>
#vector = #cta.layout<[128], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]]>

// CHECK-LABEL: tile.kernel @transposed
// CHECK: %[[B:.*]] = cta.alloc
// CHECK-NEXT: cta.local_store %{{.*}}, %[[B]]
// CHECK-NEXT: cta.local_load %[[B]]
tile.kernel @transposed(%f: f32) {
  %x = tile.splat %f : f32 -> tensor<32x32xf32, #rows>
  %y = cta.convert_layout %x : tensor<32x32xf32, #rows> -> tensor<32x32xf32, #columns>
  tile.print "" %y : tensor<32x32xf32, #columns>
  tile.return
}

// Values that exist are written before the first one is read: one barrier for both. Values that depend on one of them
// are not.
// CHECK-LABEL: tile.kernel @conversions_together
// CHECK: cta.local_store
// CHECK: cta.local_store
// CHECK-NEXT: cta.local_load
// CHECK-NEXT: cta.local_load
// CHECK: cta.local_store
// CHECK-NEXT: cta.local_load
tile.kernel @conversions_together(%f: f32, %g: f32) {
  %x = tile.splat %f : f32 -> tensor<32x32xf32, #rows>
  %z = tile.splat %g : f32 -> tensor<32x32xf32, #rows>
  %y = cta.convert_layout %x : tensor<32x32xf32, #rows> -> tensor<32x32xf32, #columns>
  %w = cta.convert_layout %z : tensor<32x32xf32, #rows> -> tensor<32x32xf32, #columns>
  %back = cta.convert_layout %y : tensor<32x32xf32, #columns> -> tensor<32x32xf32, #rows>
  tile.print "" %w, %back : tensor<32x32xf32, #columns>, tensor<32x32xf32, #rows>
  tile.return
}

// Lanes at a distance shuffle; rows of other warps are gathered at their exclusive or.
// CHECK-LABEL: tile.kernel @butterflies
// CHECK-NOT: cta.alloc
// CHECK: tile.butterfly {{.*}} {axis = 1 : i32, distance = 31 : i32}
// CHECK: tile.arange 0 to 32
// CHECK: arith.xori
// CHECK: cta.local_store
// CHECK: cta.local_gather {{.*}} {axis = 0 : i32}
// CHECK-NOT: tile.butterfly
tile.kernel @butterflies(%f: f32) {
  %x = tile.splat %f : f32 -> tensor<32x32xf32, #rows>
  %y = tile.butterfly %x {axis = 1 : i32, distance = 31 : i32} : tensor<32x32xf32, #rows>
  %z = tile.butterfly %y {axis = 0 : i32, distance = 9 : i32} : tensor<32x32xf32, #rows>
  tile.print "" %z : tensor<32x32xf32, #rows>
  tile.return
}

// Renaming registers needs no memory.
// CHECK-LABEL: tile.kernel @negative_registers
// CHECK-NOT: cta.alloc
// CHECK: cta.convert_layout
tile.kernel @negative_registers(%f: f32) {
  %x = tile.splat %f : f32 -> tensor<32x32xf32, #rows>
  %y = cta.convert_layout %x : tensor<32x32xf32, #rows> -> tensor<32x32xf32, #swapped>
  tile.print "" %y : tensor<32x32xf32, #swapped>
  tile.return
}

// Four warps hold the axis: each reduces its part, then every thread reduces the four parts.
// CHECK-LABEL: tile.kernel @across_warps
// CHECK: cta.partial_reduce {{.*}} -> tensor<4xf32
// CHECK: cta.local_store
// CHECK: cta.local_load
// CHECK: tile.reduce {{.*}} : tensor<4xf32, #{{.*}}> -> f32
tile.kernel @across_warps(%f: f32) {
  %x = tile.splat %f : f32 -> tensor<128xf32, #vector>
  %y = tile.reduce %x {axis = 0 : i32} : tensor<128xf32, #vector> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  tile.print "" %y : f32
  tile.return
}

// Two reductions that do not depend on each other: both are written before the first is read. A third, of the result of
// the first, follows.
// CHECK-LABEL: tile.kernel @together
// CHECK-COUNT-2: cta.partial_reduce
// CHECK-COUNT-2: cta.local_store
// CHECK-COUNT-2: cta.local_load
// CHECK-COUNT-2: tile.reduce
// CHECK: cta.partial_reduce
// CHECK: tile.reduce
tile.kernel @together(%f: f32) {
  %x = tile.splat %f : f32 -> tensor<128xf32, #vector>
  %y = tile.reduce %x {axis = 0 : i32} : tensor<128xf32, #vector> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  %s = tile.splat %y : f32 -> tensor<128xf32, #vector>
  %difference = arith.subf %x, %s : tensor<128xf32, #vector>
  %square = arith.mulf %x, %x : tensor<128xf32, #vector>
  %z = tile.reduce %square {axis = 0 : i32} : tensor<128xf32, #vector> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  %w = tile.reduce %difference {axis = 0 : i32} : tensor<128xf32, #vector> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  tile.print "" %z : f32
  tile.print "" %w : f32
  tile.return
}

// A thread takes 8 of 16 partial results, and its neighbour the others.
#many = #cta.layout<[512], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64], [128], [256]]>
// CHECK-LABEL: tile.kernel @many_warps
// CHECK: cta.local_load {{.*}} -> tensor<16xf32, #[[GATHERED]]>
tile.kernel @many_warps(%f: f32) attributes {num_warps = 16 : i32} {
  %x = tile.splat %f : f32 -> tensor<512xf32, #many>
  %y = tile.reduce %x {axis = 0 : i32} : tensor<512xf32, #many> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  tile.print "" %y : f32
  tile.return
}

// If combining two values takes many operations, here for the maximum and its index, a thread combines 4 of them, and
// lanes combine the results.
// CHECK-LABEL: tile.kernel @places
// CHECK: cta.local_load {{.*}} -> tensor<16xf32, #[[SHARED]]>
tile.kernel @places(%f: f32) attributes {num_warps = 16 : i32} {
  %x = tile.splat %f : f32 -> tensor<512xf32, #many>
  %i = tile.arange 0 to 512 : tensor<512xi32, #many>
  %y:2 = tile.reduce %x, %i {axis = 0 : i32} : tensor<512xf32, #many>, tensor<512xi32, #many> -> f32, i32 {
  ^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):
    %greater = arith.cmpf ogt, %a, %b : f32
    %equal = arith.cmpf oeq, %a, %b : f32
    %before = arith.cmpi slt, %ai, %bi : i32
    %first = arith.andi %equal, %before : i1
    %left = arith.ori %greater, %first : i1
    %c = arith.select %left, %a, %b : f32
    %ci = arith.select %left, %ai, %bi : i32
    tile.yield %c, %ci : f32, i32
  }
  tile.print "" %y#0 : f32
  tile.print "" %y#1 : i32
  tile.return
}

// Zeros, additions in shared memory, and the counts; barriers come later.
// CHECK-LABEL: tile.kernel @histogram
// CHECK: %[[ZEROS:.*]] = arith.constant dense<0> : tensor<128xi32
// CHECK-NEXT: %[[B:.*]] = cta.alloc : <128xi32
// CHECK-NEXT: cta.local_store %[[ZEROS]], %[[B]]
// CHECK-NEXT: cta.local_count %{{.*}}, %[[B]]
// CHECK-NEXT: cta.local_load %[[B]]
tile.kernel @histogram() {
  %x = tile.arange 0 to 128 : tensor<128xi32, #vector>
  %y = tile.histogram %x : tensor<128xi32, #vector> -> tensor<128xi32, #vector>
  tile.print "" %y : tensor<128xi32, #vector>
  tile.return
}

// Four warps hold the axis of a scan: each scans its part, and adds the totals of those before it.
// CHECK-LABEL: tile.kernel @scan_across_warps
// CHECK: cta.partial_scan {{.*}} -> tensor<128xf32, #{{.*}}>, tensor<4xf32, #{{.*}}>
// CHECK: cta.local_store
// CHECK-NEXT: cta.local_load
// CHECK-NEXT: cta.scan_carry
tile.kernel @scan_across_warps(%f: f32) {
  %x = tile.splat %f : f32 -> tensor<128xf32, #vector>
  %y = tile.scan %x {axis = 0 : i32} : tensor<128xf32, #vector> -> tensor<128xf32, #vector> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  tile.print "" %y : tensor<128xf32, #vector>
  tile.return
}

#wide = #cta.layout<[128, 128], register = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0], [64, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[0, 32], [0, 64]]>
#tall = #cta.layout<[128, 128], register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]]>
#line = #cta.layout<[131072], register = [[128], [256], [512], [1024], [2048], [4096], [8192], [16384], [32768], [65536]], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]]>
#bytes = #cta.layout<[131072], offset = [[1], [2], [4], [8], [16], [32], [64], [128], [256], [512], [1024], [2048], [4096], [8192], [16384], [32768], [65536]]>

// A loop invariant is stored before the loop, although another loop has a large buffer, which may share its memory. 32
// KiB are less than a third of Hopper's shared memory, but half of Turing's.
// CHECK-LABEL: tile.kernel @stored_before_loop
// CHECK: scf.for
// CHECK: cta.local_store %[[X:.*]], %[[BUFFER:.*]] : tensor<128x128xf16
// CHECK-NEXT: scf.for
// CHECK: cta.local_load %[[BUFFER]]
// CHECK-NOT: cta.local_store
// CHECK: tile.return
// SM75-LABEL: tile.kernel @stored_before_loop
// SM75-COUNT-2: scf.for
// SM75: cta.local_store
// SM75-NEXT: cta.local_load
tile.kernel @stored_before_loop(%p: !tile.ptr<f16>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ps = tile.splat %p : !tile.ptr<f16> -> tensor<128x128x!tile.ptr<f16>, #wide>
  %x = tile.load %ps : tensor<128x128x!tile.ptr<f16>, #wide>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %large = cta.alloc : !cta.buffer<131072xi8, #bytes>
    %b = cta.local_load %large : !cta.buffer<131072xi8, #bytes> -> tensor<131072xi8, #line>
    tile.print "" %b : tensor<131072xi8, #line>
  }
  scf.for %i = %c0 to %n step %c1 : i32 {
    %y = cta.convert_layout %x : tensor<128x128xf16, #wide> -> tensor<128x128xf16, #tall>
    tile.print "" %y : tensor<128x128xf16, #tall>
  }
  tile.return
}

// Two loads would fill more than half of a thread's registers: the elements of the first are written before the second.
// CHECK-LABEL: tile.kernel @many_loads
// CHECK: %[[X:.*]] = tile.load
// CHECK: cta.local_store %[[X]], %[[B:.*]] :
// CHECK: tile.load
// CHECK: cta.local_load %[[B]]
tile.kernel @many_loads(%p: !tile.ptr<f32>) {
  %s = tile.splat %p : !tile.ptr<f32> -> tensor<128x128x!tile.ptr<f32>, #many_columns>
  %x = tile.load %s : tensor<128x128x!tile.ptr<f32>, #many_columns>
  %y = tile.load %s : tensor<128x128x!tile.ptr<f32>, #many_columns>
  %u = cta.convert_layout %x : tensor<128x128xf32, #many_columns> -> tensor<128x128xf32, #many_rows>
  %v = cta.convert_layout %y : tensor<128x128xf32, #many_columns> -> tensor<128x128xf32, #many_rows>
  tile.print "" %u, %v : tensor<128x128xf32, #many_rows>, tensor<128x128xf32, #many_rows>
  tile.return
}
