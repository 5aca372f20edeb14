// RUN: tile-opt %s --verify-diagnostics --split-input-file

tile.kernel @arrive(%i: i32) {
  %m = cta.mbarrier_alloc arrivals 4 : !cta.mbarrier<4>
  // expected-error @below {{'cta.mbarrier_arrive' op is for a cluster of 3 CTAs; expected 2, 4 or 8}}
  cta.mbarrier_arrive %m[%i] {ctas = 3 : i32} : !cta.mbarrier<4>
  tile.return
}

// -----

#s = #cta.layout<[8, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32]]>

tile.kernel @parts(%d: !tile.desc<8x64xf16>, %i: i32) {
  %b = cta.alloc : !cta.buffer<8x64xf16, #s>
  %m = cta.mbarrier_alloc arrivals 1 : !cta.mbarrier<4>
  // expected-error @below {{'cta.tma_multicast' op buffer cannot be split into 2 equal parts that TMA can copy separately: '!cta.buffer<8x64xf16}}
  cta.tma_multicast %d[%i, %i], %b, %m[%i] {parts = 2 : i32} : !tile.desc<8x64xf16>, !cta.buffer<8x64xf16, #s>, !cta.mbarrier<4>
  tile.return
}

// -----

#s = #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>

tile.kernel @multicast_of_a_panel(%d: !tile.desc<64x128xf16>, %i: i32) {
  %b = cta.alloc : !cta.buffer<64x64xf16, #s>
  %m = cta.mbarrier_alloc arrivals 1 : !cta.mbarrier<4>
  // expected-error @below {{'cta.tma_multicast' op buffer is 'tensor<64x64xf16>' but the descriptor's block is 'tensor<64x128xf16>'}}
  cta.tma_multicast %d[%i, %i], %b, %m[%i] {parts = 2 : i32} : !tile.desc<64x128xf16>, !cta.buffer<64x64xf16, #s>, !cta.mbarrier<4>
  tile.return
}

// -----

#x = #cta.layout<[64, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#l = #cta.layout<[256], offset = [[1], [2], [4], [8], [16], [32], [64], [128]]>

tile.kernel @sum_of_more(%x: f32, %parity: i32) {
  %v = tile.splat %x : f32 -> tensor<64x8xf32, #x>
  %b = cta.alloc : !cta.buffer<256xf32, #l>
  %m = cta.mbarrier_alloc arrivals 1 : !cta.mbarrier<1>
  // expected-error @below {{'cta.cluster_sum' op needs 1 slots of 2048 bytes but the buffer has 1 of 1024}}
  %s = cta.cluster_sum %v, %b, %m, %m, %parity {ctas = 2 : i32} : tensor<64x8xf32, #x>, !cta.buffer<256xf32, #l>, !cta.mbarrier<1>
  tile.return
}

// -----

#x = #cta.layout<[64, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#l = #cta.layout<[512], offset = [[1], [2], [4], [8], [16], [32], [64], [128], [256]]>

tile.kernel @sum_with_rings(%x: f32, %parity: i32) {
  %v = tile.splat %x : f32 -> tensor<64x8xf32, #x>
  %b = cta.alloc : !cta.buffer<512xf32, #l>
  %m = cta.mbarrier_alloc arrivals 1 : !cta.mbarrier<2>
  // expected-error @below {{'cta.cluster_sum' op needs barriers of one slot}}
  %s = cta.cluster_sum %v, %b, %m, %m, %parity {ctas = 2 : i32} : tensor<64x8xf32, #x>, !cta.buffer<512xf32, #l>, !cta.mbarrier<2>
  tile.return
}
