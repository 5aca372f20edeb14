// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-lower-rings))' --verify-diagnostics --split-input-file

!ring = !cta.ring<3 x [!cta.buffer<2xf16, #cta.layout<[2], offset = [[1]]>>]>
tile.kernel @fills_and_reads() {
  %ring = cta.ring_alloc : !ring
  cta.warp_roles role <consumer, warps = 4> {
    %s = cta.ring_acquire %ring : !ring
    cta.ring_commit %ring[%s] : !ring
    // expected-error @below {{'cta.ring_wait' op reads a ring that its own role 'consumer' fills}}
    %t = cta.ring_wait %ring : !ring
  }
  tile.return
}

// -----

!ring = !cta.ring<3 x [!cta.buffer<2xf16, #cta.layout<[2], offset = [[1]]>>]>
tile.kernel @consumer() {
  %ring = cta.ring_alloc : !ring
  // expected-error @below {{'cta.ring_wait' op must be in a role of the one cta.warp_roles of the kernel's body}}
  %s = cta.ring_wait %ring : !ring
  tile.return
}

// -----

!ring = !cta.ring<3 x [!cta.buffer<2xf16, #cta.layout<[2], offset = [[1]]>>]>
tile.kernel @twice() {
  %ring = cta.ring_alloc : !ring
  cta.warp_roles role <consumer, warps = 4> {
  }
  cta.warp_roles role <consumer, warps = 4> {
    // expected-error @below {{'cta.ring_wait' op must be in a role of the one cta.warp_roles of the kernel's body}}
    %s = cta.ring_wait %ring : !ring
  }
  tile.return
}

// -----

!ring = !cta.ring<3 x [!cta.buffer<2xf16, #cta.layout<[2], offset = [[1]]>>]>
tile.kernel @inside() {
  cta.warp_roles role <consumer, warps = 4> {
    // expected-error @below {{'cta.ring_alloc' op must be in the kernel's body, before the roles}}
    %ring = cta.ring_alloc : !ring
  } role <producer, warps = 4, one_thread> {
  }
  tile.return
}

// -----

!ring = !cta.ring<3 x [!cta.buffer<2xf16, #cta.layout<[2], offset = [[1]]>>]>
!x = tensor<4xf16, #cta.layout<[4], register = [[1], [2]], lane = [[0], [0], [0], [0], [0]], warp = [[0], [0]]>>
tile.kernel @element(%p: !tile.ptr<f16>) {
  %ring = cta.ring_alloc : !ring
  cta.warp_roles role <consumer, warps = 4> {
    %v = arith.constant dense<0.0> : !x
    %y = tile.reduce %v {axis = 0 : i32} : !x -> f16 {
    ^bb0(%e: f16, %f: f16):
      // expected-error @below {{'cta.ring_wait' op is in a 'tile.reduce'; slots can be counted only in loops and branches}}
      %s = cta.ring_wait %ring : !ring
      tile.yield %e : f16
    }
  } role <producer, warps = 4, one_thread> {
  }
  tile.return
}

// -----

!ring = !cta.ring<3 x [!cta.buffer<2xf16, #cta.layout<[2], offset = [[1]]>>]>
tile.kernel @uncommitted() {
  %ring = cta.ring_alloc : !ring
  cta.warp_roles role <consumer, warps = 4> {
  } role <producer, warps = 4, one_thread> {
    // expected-error @below {{'cta.ring_acquire' op needs one cta.ring_commit of its slot, in the same block}}
    %s = cta.ring_acquire %ring : !ring
  }
  tile.return
}

// -----

!ring = !cta.ring<3 x [!cta.buffer<2xf16, #cta.layout<[2], offset = [[1]]>>]>
tile.kernel @not_acquired() {
  %ring = cta.ring_alloc : !ring
  cta.warp_roles role <consumer, warps = 4> {
  } role <producer, warps = 4, one_thread> {
    %s = cta.ring_none
    // expected-error @below {{'cta.ring_commit' op slot does not come from a cta.ring_acquire}}
    cta.ring_commit %ring[%s] : !ring
  }
  tile.return
}

// -----

!b = !cta.buffer<2xf16, #cta.layout<[2], offset = [[1]]>>
!ring = !cta.ring<3 x [!b]>
tile.kernel @late(%d: !tile.desc<2xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}, %i: i32) {
  %ring = cta.ring_alloc : !ring
  cta.warp_roles role <consumer, warps = 4> {
  } role <producer, warps = 4, one_thread> {
    %s = cta.ring_acquire %ring : !ring
    %b = cta.ring_buffers %ring[%s] : !ring
    cta.ring_commit %ring[%s] : !ring
    // expected-error @below {{'cta.tma_load' op must be between the cta.ring_acquire and the cta.ring_commit of its slot}}
    cta.tma_load %d[%i], %b, %ring[%s] : !tile.desc<2xf16>, !b, !ring
  }
  tile.return
}

// -----

tile.kernel @unopened() {
  cta.warp_roles role <consumer, warps = 4, teams = 2> {
    // expected-error @below {{'cta.turn_begin' op needs a cta.turn_open of teams in the block of the role}}
    cta.turn_begin of 2 teams
  } role <producer, warps = 4, one_thread> {
  }
  tile.return
}

// -----

tile.kernel @one_team() {
  cta.warp_roles role <consumer, warps = 4> {
    // expected-error @below {{'cta.turn_open' op needs several teams, but role 'consumer' has one}}
    cta.turn_open of 2 teams
  }
  tile.return
}

// -----

!b = !cta.buffer<2xf16, #cta.layout<[2], offset = [[1]]>>
!ring = !cta.ring<3 x [!b]>
tile.kernel @copy_by_warps(%d: !tile.desc<2xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}, %i: i32) {
  %ring = cta.ring_alloc : !ring
  cta.warp_roles role <load, warps = 1> {
    %s = cta.ring_acquire %ring : !ring
    %b = cta.ring_buffers %ring[%s] : !ring
    // expected-error @below {{'cta.tma_load' op must be executed by one thread, but role 'load' has several}}
    cta.tma_load %d[%i], %b, %ring[%s] : !tile.desc<2xf16>, !b, !ring
    cta.ring_commit %ring[%s] : !ring
  }
  tile.return
}
