// RUN: tile-opt %s --verify-diagnostics --split-input-file

// expected-error @below {{ring has 0 slots; expected 1 to 1048576}}
func.func private @slots(!cta.ring<0 x [!cta.buffer<2xf16, #cta.layout<[2], offset = [[1]]>>]>)

// -----

// expected-error @below {{buffer of a ring has 2 separate slots but must have 1}}
func.func private @rings(!cta.ring<3 x [!cta.buffer<2xf16, #cta.layout<[2], offset = [[1]]>, slots = 2>]>)

// -----

!ring = !cta.ring<3 x [!cta.buffer<2xf16, #cta.layout<[2], offset = [[1]]>>]>
tile.kernel @ctas() {
  // expected-error @below {{'cta.ring_alloc' op is for a cluster of 3 CTAs; expected 2, 4 or 8}}
  %r = cta.ring_alloc {ctas = 3 : i32} : !ring
  tile.return
}
