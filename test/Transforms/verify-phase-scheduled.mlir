// RUN: tile-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tile.kernel(tile-verify-phase{phase=scheduled}))'

!ring = !cta.ring<3 x [!cta.buffer<2xf16, #cta.layout<[2], offset = [[1]]>>]>
tile.kernel @ring() {
  // expected-error @below {{phase scheduled: 'cta.ring_alloc' does not belong to this phase}}
  %ring = cta.ring_alloc : !ring
  tile.return
}

// -----

tile.kernel @teams() {
  cta.warp_roles role <consumer, warps = 4, teams = 2> {
    // expected-error @below {{phase scheduled: 'cta.turn_open' does not belong to this phase}}
    cta.turn_open of 2 teams
  } role <producer, warps = 4, one_thread> {
  }
  tile.return
}
