// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-schedule-loop))' --mlir-print-local-scope | FileCheck %s

#q = #cta.layout<[128, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [64, 0]]>
#k = #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
#c = #cta.layout<[128, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]>
!q = !cta.buffer<128x64xf16, #q>
!k = !cta.buffer<64x64xf16, #k>
!c = tensor<128x64xf32, #c>
!p = tensor<128x64xf16, #c>
!column = tensor<128x1xf32, #cta.layout<[128, 1], register = [[0, 0], [8, 0], [0, 0], [0, 0], [0, 0]], lane = [[0, 0], [0, 0], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]>>
!rows = tensor<128xf32, #cta.layout<[128], register = [[8]], lane = [[0], [0], [1], [2], [4]], warp = [[16], [32], [64]]>>

// The other warp group multiplies while this one computes exponentials; both MMAs belong to a turn.
// CHECK-LABEL: tile.kernel @turns(
// CHECK: role <consumer{{.*}}> {
// CHECK-NEXT: cta.turn_open of 2
// CHECK: scf.for
// CHECK: cta.turn_begin of 2
// CHECK-NEXT: cta.wgmma
// CHECK-NEXT: cta.wgmma
// CHECK-NEXT: cta.turn_end of 2
// CHECK-NEXT: cta.await
tile.kernel @turns(%n: i32) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !c
  %none = arith.constant dense<0.0> : !p
  %q = cta.alloc : !q
  %k = cta.alloc : !k
  cta.warp_roles role <consumer, warps = 8> {
    %sum, %last = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %zero, %p = %none) -> (!c, !p) : i32 {
      %o, %o_t = cta.wgmma %p, %k, %acc {n = 64 : i32} : !p, !k -> !c
      %s, %s_t = cta.wgmma %q, %k, %zero {n = 64 : i32} : !q, !k -> !c
      %r = cta.await %o after %o_t : !c
      %x = cta.await %s after %s_t : !c
      %m = arith.mulf %x, %x : !c
      %m1 = arith.addf %m, %x : !c
      %m2 = arith.addf %m1, %x : !c
      %e = math.exp2 %m2 : !c
      %h = arith.truncf %e : !c to !p
      scf.yield %r, %h : !c, !p
    }
    tile.print "sum" %sum : !c
  } role <producer, warps = 4, one_thread> {
  }
  tile.return
}

// Row sums stay within a warp; the turn may contain them.
// CHECK-LABEL: tile.kernel @reduces(
// CHECK: cta.turn_begin of 2
// CHECK: tile.reduce
// CHECK: cta.turn_end of 2
tile.kernel @reduces(%n: i32) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !c
  %none = arith.constant dense<0.0> : !p
  %q = cta.alloc : !q
  %k = cta.alloc : !k
  cta.warp_roles role <consumer, warps = 8> {
    %sum, %last = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %zero, %p = %none) -> (!c, !p) : i32 {
      %o, %o_t = cta.wgmma %p, %k, %acc {n = 64 : i32} : !p, !k -> !c
      %rows = tile.reduce %zero {axis = 1 : i32} : !c -> !rows {
      ^bb0(%a: f32, %b: f32):
        %ab = arith.addf %a, %b : f32
        tile.yield %ab : f32
      }
      %column = tile.expand_dims %rows {axis = 1 : i32} : !rows -> !column
      %start = tile.broadcast %column : !column -> !c
      %s, %s_t = cta.wgmma %q, %k, %start {n = 64 : i32} : !q, !k -> !c
      %r = cta.await %o after %o_t : !c
      %x = cta.await %s after %s_t : !c
      %m = arith.mulf %x, %x : !c
      %m1 = arith.addf %m, %x : !c
      %m2 = arith.addf %m1, %x : !c
      %e = math.exp2 %m2 : !c
      %h = arith.truncf %e : !c to !p
      scf.yield %r, %h : !c, !p
    }
    tile.print "sum" %sum : !c
  } role <producer, warps = 4, one_thread> {
  }
  tile.return
}

// The computation lies between the MMAs of an iteration, and none can run ahead.
// CHECK-LABEL: tile.kernel @negative_between(
// CHECK-NOT: cta.turn
tile.kernel @negative_between(%n: i32) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !c
  %q = cta.alloc : !q
  %k = cta.alloc : !k
  cta.warp_roles role <consumer, warps = 8> {
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!c) : i32 {
      %s, %s_t = cta.wgmma %q, %k, %acc {n = 64 : i32} : !q, !k -> !c
      %x = cta.await %s after %s_t : !c
      %m = arith.mulf %x, %x : !c
      %m1 = arith.addf %m, %x : !c
      %m2 = arith.addf %m1, %x : !c
      %e = math.exp2 %m2 : !c
      %p = arith.truncf %e : !c to !p
      %o, %o_t = cta.wgmma %p, %k, %zero {n = 64 : i32} : !p, !k -> !c
      %r = cta.await %o after %o_t : !c
      scf.yield %r : !c
    }
    tile.print "sum" %sum : !c
  } role <producer, warps = 4, one_thread> {
  }
  tile.return
}

// The group that has the turn must not wait for the one that waits for the turn.
// CHECK-LABEL: tile.kernel @negative_barrier(
// CHECK-NOT: cta.turn
tile.kernel @negative_barrier(%n: i32) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !c
  %none = arith.constant dense<0.0> : !p
  %q = cta.alloc : !q
  %k = cta.alloc : !k
  cta.warp_roles role <consumer, warps = 8> {
    %sum, %last = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %zero, %p = %none) -> (!c, !p) : i32 {
      %o, %o_t = cta.wgmma %p, %k, %acc {n = 64 : i32} : !p, !k -> !c
      %r = cta.await %o after %o_t : !c
      cta.barrier
      %s, %s_t = cta.wgmma %q, %k, %zero {n = 64 : i32} : !q, !k -> !c
      %x = cta.await %s after %s_t : !c
      %m = arith.mulf %x, %x : !c
      %m1 = arith.addf %m, %x : !c
      %m2 = arith.addf %m1, %x : !c
      %e = math.exp2 %m2 : !c
      %h = arith.truncf %e : !c to !p
      scf.yield %r, %h : !c, !p
    }
    tile.print "sum" %sum : !c
  } role <producer, warps = 4, one_thread> {
  }
  tile.return
}

// A single warp group has no other to alternate with.
// CHECK-LABEL: tile.kernel @negative_oneGroup(
// CHECK-NOT: cta.turn
tile.kernel @negative_oneGroup(%n: i32) attributes {num_warps = 4 : i32} {
  cta.warp_roles role <consumer, warps = 4> {
  } role <producer, warps = 4, one_thread> {
  }
  tile.return
}

// Programs of one K step multiply without a loop.
// CHECK-LABEL: tile.kernel @program(
// CHECK: tile.programs
// CHECK: cta.turn_begin of 2
// CHECK-NEXT: cta.wgmma
// CHECK-NEXT: cta.wgmma
// CHECK-NEXT: cta.turn_end of 2
tile.kernel @program(%n: i32) attributes {num_warps = 8 : i32} {
  %zero = arith.constant dense<0.0> : !c
  %q = cta.alloc : !q
  %k = cta.alloc : !k
  cta.warp_roles role <consumer, warps = 8> {
    tile.programs (%x, %y, %z, %exists) in (%n, %n, %n) #tile.work<order = grid> {
      %o, %o_t = cta.wgmma %q, %k, %zero {n = 64 : i32} : !q, !k -> !c
      %s, %s_t = cta.wgmma %q, %k, %zero {n = 64 : i32} : !q, !k -> !c
      %r = cta.await %o after %o_t : !c
      %t = cta.await %s after %s_t : !c
      %m = arith.mulf %r, %t : !c
      %m1 = arith.addf %m, %t : !c
      %m2 = arith.addf %m1, %t : !c
      %e = math.exp2 %m2 : !c
      %e2 = math.exp2 %e : !c
      tile.print "" %e2 : !c
    }
  } role <producer, warps = 4, one_thread> {
  }
  tile.return
}
