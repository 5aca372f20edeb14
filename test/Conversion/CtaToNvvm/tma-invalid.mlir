// Copies that TMA cannot do, and barriers without an offset.
// RUN: tile-opt %s --convert-cta-to-nvvm -split-input-file -verify-diagnostics

// Column-major.
#s = #cta.layout<[64, 64], offset = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0], [0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]]>
tile.kernel @layout(%d: !tile.desc<64x64xf16>, %i: i32) attributes {shared_bytes = 8192 : i64} {
  %b = cta.alloc at 0 : !cta.buffer<64x64xf16, #s>
  // expected-error @+1 {{'cta.tma_store' op buffer has a layout that TMA cannot copy: '!cta.buffer<64x64xf16}}
  cta.tma_store %b, %d[%i, %i] : !cta.buffer<64x64xf16, #s>, !tile.desc<64x64xf16>
  tile.return
}

// -----

tile.kernel @offset() attributes {shared_bytes = 64 : i64} {
  // expected-error @+1 {{'cta.mbarrier_alloc' op has no offset; run cta-allocate-shared first}}
  %m = cta.mbarrier_alloc arrivals 4 : !cta.mbarrier<4>
  tile.return
}

// -----

#w = #cta.layout<[64, 256], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [0, 64], [0, 128]]>
tile.kernel @tail(%d: !tile.desc<64x160xf16>, %i: i32) attributes {shared_bytes = 24608 : i64} {
  %b = cta.alloc at 0 : !cta.buffer<64x160xf16, #w>
  %m = cta.mbarrier_alloc arrivals 1 at 24576 : !cta.mbarrier<1>
  // expected-error @+1 {{'cta.tma_load_sync' op has a descriptor for a last panel of 0 columns but the buffer's has 32}}
  cta.tma_load_sync %d[%i, %i], %b, %m : !tile.desc<64x160xf16>, !cta.buffer<64x160xf16, #w>, !cta.mbarrier<1>
  tile.return
}
