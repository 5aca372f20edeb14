// Rings are there from cta-specialize-warps to cta-lower-rings only, and what they are is known everywhere.
// RUN: tile-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tile.kernel(cta-overlap-waits))'

!ring = !cta.ring<3 x [!cta.buffer<2xf16, #cta.layout<[2], offset = [[1]]>>]>
tile.kernel @good(%n: i32) attributes {producer_warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = cta.ring_alloc readers 4 : !ring
  cta.warp_roles consumer {
    %none = cta.ring_none
    %last = scf.for %i = %c0 to %n step %c1 iter_args(%s = %none) -> (!cta.ring_slot) : i32 {
      %next = cta.ring_wait %ring : !ring
      scf.yield %next : !cta.ring_slot
    }
  } producer {
  }
  tile.return
}

// -----

!ring = !cta.ring<3 x [!cta.buffer<2xf16, #cta.layout<[2], offset = [[1]]>>]>
tile.kernel @carried(%c: i1) attributes {producer_warps = 4 : i32} {
  %a = cta.ring_alloc readers 4 : !ring
  %b = cta.ring_alloc readers 4 : !ring
  // expected-error @below {{cta-overlap-waits needs phase scheduled, or on its way there: 'scf.if' cannot have a value of type '!cta.ring<3 x [<2xf16, #cta.layout<[2], offset = [[1]]>>]>' in this phase}}
  %ring = scf.if %c -> !ring {
    scf.yield %a : !ring
  } else {
    scf.yield %b : !ring
  }
  tile.return
}
