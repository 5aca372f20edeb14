// RUN: tile-opt %s --convert-cta-to-nvvm -split-input-file -verify-diagnostics

tile.kernel @nested(%c: i1) {
  scf.if %c {
    // expected-error @+1 {{'cta.warp_roles' op must be in the kernel's body, where all warps synchronize}}
    cta.warp_roles role <consumer, warps = 4> {
      cta.proxy_fence
    } role <producer, warps = 4, one_thread> {
      cta.proxy_fence
    }
  }
  tile.return
}

// -----

tile.kernel @collective() {
  cta.warp_roles role <consumer, warps = 4> {
    cta.barrier
  } role <producer, warps = 4, one_thread> {
    // expected-error @+1 {{'cta.barrier' op must be executed by all threads of a role, but role 'producer' has one thread}}
    cta.barrier
  }
  tile.return
}

// -----

!x = tensor<128xi32, #cta.layout<[128], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]]>>
tile.kernel @tensor_of_one_thread() {
  cta.warp_roles role <consumer, warps = 4> {
    cta.proxy_fence
  } role <producer, warps = 4, one_thread> {
    // expected-error-re @+1 {{'arith.constant' op uses 'tensor<128xi32, {{.*}}>' in role 'producer', which has one thread}}
    %x = arith.constant dense<0> : !x
  }
  tile.return
}

// -----

!x = tensor<128xi32, #cta.layout<[128], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]]>>
tile.kernel @tensor_of_other_warps() {
  cta.warp_roles role <consumer, warps = 4> {
    cta.proxy_fence
  } role <store, warps = 2> {
    // expected-error @+1 {{'arith.constant' op uses a tensor laid out for 4 warps but the role has 2}}
    %x = arith.constant dense<0> : !x
  }
  tile.return
}

// -----

tile.kernel @twice() {
  cta.warp_roles role <consumer, warps = 4> {
    cta.proxy_fence
  } role <producer, warps = 4, one_thread> {
    cta.proxy_fence
  }
  // expected-error @+1 {{'cta.warp_roles' op is the kernel's second; barriers are initialised once, before the first}}
  cta.warp_roles role <consumer, warps = 4> {
    cta.proxy_fence
  } role <producer, warps = 4, one_thread> {
    cta.proxy_fence
  }
  tile.return
}

// -----

tile.kernel @turns() attributes {num_warps = 32 : i32} {
  // expected-error @+1 {{'cta.turn_begin' op is for 8 warp groups, which need 18 named barriers, but a CTA has 16}}
  cta.turn_begin of 8
  tile.return
}

// -----

tile.kernel @teams() {
  // expected-error @+1 {{'cta.turn_end' op is for teams; run cta-lower-rings first}}
  cta.turn_end of 2 teams
  tile.return
}
