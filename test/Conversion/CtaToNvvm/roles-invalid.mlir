// RUN: tile-opt %s --convert-cta-to-nvvm -split-input-file -verify-diagnostics

tile.kernel @nested(%c: i1) attributes {producer_warps = 4 : i32} {
  scf.if %c {
    // expected-error @+1 {{'cta.warp_roles' op must stand in the kernel's body, where all warps meet}}
    cta.warp_roles consumer {
      cta.proxy_fence
    } producer {
      cta.proxy_fence
    }
  }
  tile.return
}

// -----

tile.kernel @no_producer() {
  // expected-error @+1 {{'cta.warp_roles' op needs a warp for the producer but the kernel has 0 producer warps}}
  cta.warp_roles consumer {
    cta.proxy_fence
  } producer {
    cta.proxy_fence
  }
  tile.return
}

// -----

tile.kernel @small_producer() attributes {num_warps = 8 : i32, producer_warps = 1 : i32} {
  // expected-error @+1 {{'cta.warp_roles' op needs one warp group for the producer, whose registers it sets, but the kernel has 1 producer warps}}
  cta.warp_roles consumer {
    cta.proxy_fence
  } producer {
    cta.proxy_fence
  } {consumer_registers = 240 : i32, producer_registers = 24 : i32}
  tile.return
}

// -----

tile.kernel @twice() attributes {producer_warps = 4 : i32} {
  cta.warp_roles consumer {
    cta.proxy_fence
  } producer {
    cta.proxy_fence
  }
  // expected-error @+1 {{'cta.warp_roles' op is the kernel's second; barriers are initialised once, before the first}}
  cta.warp_roles consumer {
    cta.proxy_fence
  } producer {
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

tile.kernel @teams() attributes {producer_warps = 4 : i32, teams = 2 : i32} {
  // expected-error @+1 {{'cta.turn_end' op is of teams; run cta-lower-rings first}}
  cta.turn_end of 2 teams
  tile.return
}
