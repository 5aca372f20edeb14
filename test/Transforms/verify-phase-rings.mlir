// Rings exist only from cta-specialize-warps to cta-lower-rings, and all their uses know their allocations.
// RUN: tile-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tile.kernel(cta-schedule-loop))'

!ring = !cta.ring<3 x [!cta.buffer<2xf16, #cta.layout<[2], offset = [[1]]>>]>
tile.kernel @good(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = cta.ring_alloc : !ring
  cta.warp_roles role <consumer, warps = 4> {
    %none = cta.ring_none
    %last = scf.for %i = %c0 to %n step %c1 iter_args(%s = %none) -> (!cta.ring_slot) : i32 {
      %next = cta.ring_wait %ring : !ring
      scf.yield %next : !cta.ring_slot
    }
  } role <producer, warps = 4, one_thread> {
  }
  tile.return
}

// -----

!ring = !cta.ring<3 x [!cta.buffer<2xf16, #cta.layout<[2], offset = [[1]]>>]>
tile.kernel @carried(%c: i1) {
  %a = cta.ring_alloc : !ring
  %b = cta.ring_alloc : !ring
  // expected-error @below {{cta-schedule-loop needs phase scheduled, or a form between async and scheduled: 'scf.if' cannot have a value of type '!cta.ring<3 x [<2xf16, #cta.layout<[2], offset = [[1]]>>]>' in this phase}}
  %ring = scf.if %c -> !ring {
    scf.yield %a : !ring
  } else {
    scf.yield %b : !ring
  }
  tile.return
}

// -----

tile.kernel @programs_in_a_branch(%n: i32, %c: i1) {
  scf.if %c {
    // expected-error @below {{cta-schedule-loop needs phase scheduled, or a form between async and scheduled: 'tile.programs' is in a 'scf.if'; expected the kernel's body or a warp role}}
    tile.programs (%i, %j, %k, %exists) in (%n, %n, %n) #tile.work<order = grid> {
    }
  }
  tile.return
}

// -----

#e = #cta.layout<[4096], offset = [[1], [2], [4], [8], [16], [32], [64], [128], [256], [512], [1024], [2048]]>
#x = #cta.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
tile.kernel @uncounted(%v: f32) attributes {cluster = array<i32: 1, 1, 2>, cluster_ctas = 2 : i32} {
  %x = tile.splat %v : f32 -> tensor<64x64xf32, #x>
  %b = cta.alloc : !cta.buffer<4096xf32, #e>
  %m = cta.mbarrier_alloc arrivals 1 : !cta.mbarrier<1>
  // expected-error @below {{cta-schedule-loop needs phase scheduled, or a form between async and scheduled: 'cta.cluster_sum' needs a phase parity, which is implicit only in the block of a tile.programs}}
  %s = cta.cluster_sum %x, %b, %m, %m {ctas = 2 : i32} : tensor<64x64xf32, #x>, !cta.buffer<4096xf32, #e>, !cta.mbarrier<1>
  tile.return
}

// -----

#x = #cta.layout<[4], register = [[1], [2]], lane = [[0], [0], [0], [0], [0]], warp = [[0], [0]]>
tile.kernel @tensor_of_other_warps() {
  cta.warp_roles role <consumer, warps = 4> {
  } role <store, warps = 2> {
    // expected-error @below {{cta-schedule-loop needs phase scheduled, or a form between async and scheduled: layout of 'tensor<4xf16, #cta.layout<[4], register = [[1], [2]], lane = [[0], [0], [0], [0], [0]], warp = [[0], [0]]>>' is for 4 warps but the role has 2}}
    %v = arith.constant dense<0.0> : tensor<4xf16, #x>
  }
  tile.return
}

// -----

#x = #cta.layout<[4], register = [[1], [2]], lane = [[0], [0], [0], [0], [0]], warp = [[0], [0]]>
tile.kernel @tensor_of_one_thread() {
  cta.warp_roles role <consumer, warps = 4> {
  } role <producer, warps = 4, one_thread> {
    // expected-error @below {{is in role 'producer', which has one thread}}
    %v = arith.constant dense<0.0> : tensor<4xf16, #x>
  }
  tile.return
}
