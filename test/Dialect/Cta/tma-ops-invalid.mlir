// RUN: tile-opt %s --verify-diagnostics --split-input-file

#s = #cta.layout<[64], offset = [[1], [2], [4], [8], [16], [32]]>

tile.kernel @slots(%d: !tile.desc<64xf32>, %i: i32) {
  %b = cta.alloc : !cta.buffer<64xf32, #s, slots = 3>
  %m = cta.mbarrier_alloc arrivals 1 : !cta.mbarrier<4>
  // expected-error @below {{'cta.tma_load' op buffer has 3 slots; choose one with cta.slot}}
  cta.tma_load %d[%i], %b, %m[%i] : !tile.desc<64xf32>, !cta.buffer<64xf32, #s, slots = 3>, !cta.mbarrier<4>
  tile.return
}

// -----

#s = #cta.layout<[64], offset = [[1], [2], [4], [8], [16], [32]]>

tile.kernel @offsets(%d: !tile.desc<64xf32>, %i: i32) {
  %b = cta.alloc : !cta.buffer<64xf32, #s>
  %m = cta.mbarrier_alloc arrivals 1 : !cta.mbarrier<4>
  // expected-error @below {{'cta.tma_load' op has 2 offsets but the descriptor has rank 1}}
  cta.tma_load %d[%i, %i], %b, %m[%i] : !tile.desc<64xf32>, !cta.buffer<64xf32, #s>, !cta.mbarrier<4>
  tile.return
}

// -----

#s = #cta.layout<[64], offset = [[1], [2], [4], [8], [16], [32]]>

tile.kernel @panel_of_a_load(%d: !tile.desc<128xf32>, %i: i32) {
  %b = cta.alloc : !cta.buffer<64xf32, #s>
  %m = cta.mbarrier_alloc arrivals 1 : !cta.mbarrier<1>
  // expected-error @below {{'cta.tma_load_sync' op buffer is 'tensor<64xf32>' but the descriptor's block is 'tensor<128xf32>'}}
  cta.tma_load_sync %d[%i], %b, %m : !tile.desc<128xf32>, !cta.buffer<64xf32, #s>, !cta.mbarrier<1>
  tile.return
}

// -----

#s = #cta.layout<[64], offset = [[1], [2], [4], [8], [16], [32]]>

tile.kernel @larger_than_the_block(%d: !tile.desc<32xf32>, %i: i32) {
  %b = cta.alloc : !cta.buffer<64xf32, #s>
  // expected-error @below {{'cta.tma_store' op buffer is 'tensor<64xf32>' but the descriptor's block is 'tensor<32xf32>'}}
  cta.tma_store %b, %d[%i] : !cta.buffer<64xf32, #s>, !tile.desc<32xf32>
  tile.return
}

// -----

#s = #cta.layout<[64], offset = [[1], [2], [4], [8], [16], [32]]>

tile.kernel @element(%d: !tile.desc<64xf16>, %i: i32) {
  %b = cta.alloc : !cta.buffer<64xf32, #s>
  // expected-error @below {{'cta.tma_store' op buffer is 'tensor<64xf32>' but the descriptor's block is 'tensor<64xf16>'}}
  cta.tma_store %b, %d[%i] : !cta.buffer<64xf32, #s>, !tile.desc<64xf16>
  tile.return
}

// -----

#s = #cta.layout<[4, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0]]>

tile.kernel @rows(%d: !tile.desc<2x16xf32>, %i: i32) {
  %b = cta.alloc : !cta.buffer<4x16xf32, #s>
  // expected-error @below {{'cta.tma_store' op buffer is 'tensor<4x16xf32>' but the descriptor's block is 'tensor<2x16xf32>'}}
  cta.tma_store %b, %d[%i, %i] : !cta.buffer<4x16xf32, #s>, !tile.desc<2x16xf32>
  tile.return
}

// -----

#s = #cta.layout<[64], offset = [[1], [2], [4], [8], [16], [32]]>

tile.kernel @barriers(%d: !tile.desc<64xf32>, %i: i32) {
  %b = cta.alloc : !cta.buffer<64xf32, #s>
  %m = cta.mbarrier_alloc arrivals 1 : !cta.mbarrier<4>
  // expected-error @below {{'cta.tma_load_sync' op barrier has 4 slots but needs one}}
  cta.tma_load_sync %d[%i], %b, %m : !tile.desc<64xf32>, !cta.buffer<64xf32, #s>, !cta.mbarrier<4>
  tile.return
}

// -----

#s = #cta.layout<[4, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0]]>

tile.kernel @groups(%d: !tile.desc<4x16xf32>, %i: i32) {
  %b = cta.alloc : !cta.buffer<4x16xf32, #s>
  // expected-error @below {{'cta.tma_store' op gives each of 3 warp groups its part of 'tensor<4x16xf32>', whose rows or columns must be consecutive in the buffer}}
  cta.tma_store %b, %d[%i, %i] {groups = 3 : i32} : !cta.buffer<4x16xf32, #s>, !tile.desc<4x16xf32>
  tile.return
}

// -----

// Every second row comes first, with all of its columns.
#s = #cta.layout<[4, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [2, 0], [1, 0]]>

tile.kernel @groups_of_rows_in_turns(%d: !tile.desc<4x16xf32>, %i: i32) {
  %b = cta.alloc : !cta.buffer<4x16xf32, #s>
  // expected-error @below {{'cta.tma_store' op gives each of 2 warp groups its part of 'tensor<4x16xf32>', whose rows or columns must be consecutive in the buffer}}
  cta.tma_store %b, %d[%i, %i] {groups = 2 : i32} : !cta.buffer<4x16xf32, #s>, !tile.desc<4x16xf32>
  tile.return
}

// -----

#s = #cta.layout<[4, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0]]>

// Only dimensions of size 1 may be missing.
tile.kernel @leading(%d: !tile.desc<2x4x16xf32>, %i: i32) {
  %b = cta.alloc : !cta.buffer<4x16xf32, #s>
  // expected-error @below {{'cta.tma_store' op buffer is 'tensor<4x16xf32>' but the descriptor's block is 'tensor<2x4x16xf32>'}}
  cta.tma_store %b, %d[%i, %i, %i] : !cta.buffer<4x16xf32, #s>, !tile.desc<2x4x16xf32>
  tile.return
}

// -----

#s = #cta.layout<[4, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0]]>

tile.kernel @leading_offsets(%d: !tile.desc<1x4x16xf32>, %i: i32) {
  %b = cta.alloc : !cta.buffer<4x16xf32, #s>
  // expected-error @below {{'cta.tma_store' op has 2 offsets but the descriptor has rank 3}}
  cta.tma_store %b, %d[%i, %i] : !cta.buffer<4x16xf32, #s>, !tile.desc<1x4x16xf32>
  tile.return
}

// -----

#bytes = #cta.layout<[128], offset = [[1], [2], [4], [8], [16], [32], [64]]>

tile.kernel @tensor_map_rank(%base: !tile.ptr<f16>, %n: i32, %ld: i64, %place: !tile.ptr<i8>) {
  %b = cta.alloc : !cta.buffer<128xi8, #bytes>
  // expected-error @below {{'cta.make_tensor_map' op has 1 sizes, 2 strides and a box of 2 sizes but the descriptor has rank 2}}
  %d = cta.make_tensor_map %base, [%n], [%ld, %ld] at %place via %b {box = array<i64: 64, 64>, swizzle = 128 : i32} : !tile.ptr<f16>, !tile.ptr<i8>, !cta.buffer<128xi8, #bytes> -> !tile.desc<64x64xf16>
  tile.return
}

// -----

#bytes = #cta.layout<[64], offset = [[1], [2], [4], [8], [16], [32]]>

tile.kernel @tensor_map_staging(%base: !tile.ptr<f16>, %n: i32, %ld: i64, %place: !tile.ptr<i8>) {
  %b = cta.alloc : !cta.buffer<64xi8, #bytes>
  // expected-error @below {{'cta.make_tensor_map' op staging buffer has 64 bytes but a tensor map has 128}}
  %d = cta.make_tensor_map %base, [%n, %n], [%ld, %ld] at %place via %b {box = array<i64: 64, 64>, swizzle = 128 : i32} : !tile.ptr<f16>, !tile.ptr<i8>, !cta.buffer<64xi8, #bytes> -> !tile.desc<64x64xf16>
  tile.return
}

// -----

#s = #cta.layout<[16, 256], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 0], [2, 0], [4, 0], [8, 0], [0, 64], [0, 128]]>

tile.kernel @tail(%d: !tile.desc<16x160xf16>, %r: !tile.desc<8x32xf16>, %i: i32) {
  %b = cta.alloc : !cta.buffer<16x160xf16, #s>
  %m = cta.mbarrier_alloc arrivals 1 : !cta.mbarrier<1>
  // expected-error @below {{'cta.tma_load_sync' op tail is 'tensor<8x32xf16>' but must have fewer columns than the block 'tensor<16x160xf16>' and otherwise equal it}}
  cta.tma_load_sync %d[%i, %i] tail %r, %b, %m : !tile.desc<16x160xf16> tail !tile.desc<8x32xf16>, !cta.buffer<16x160xf16, #s>, !cta.mbarrier<1>
  tile.return
}

// -----

#s = #cta.layout<[8, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0]]>

tile.kernel @signed(%d: !tile.desc<8x16xi32>, %i: i32) {
  %b = cta.alloc : !cta.buffer<8x16xi32, #s>
  // expected-error @below {{'cta.tma_store' op cannot reduce 'i32' by 'max'}}
  cta.tma_store %b, %d[%i, %i] reduce max : !cta.buffer<8x16xi32, #s>, !tile.desc<8x16xi32>
  tile.return
}

// -----

tile.kernel @negative_pending() {
  // expected-error @below {{attribute 'pending' failed to satisfy constraint: 32-bit signless integer attribute whose value is non-negative}}
  cta.tma_store_wait -1
  tile.return
}

// -----

#s = #cta.layout<[128, 64], offset = [[0, 1], [0, 2], [64, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [64, 0]]>

tile.kernel @negative_part_of_both_halves(%d: !tile.desc<128x64xf16>, %i: i32) {
  %b = cta.alloc : !cta.buffer<128x64xf16, #s>
  // expected-error @below {{gives each of 2 warp groups its part of 'tensor<128x64xf16>', whose rows or columns must be consecutive}}
  cta.tma_store %b, %d[%i, %i] {groups = 2 : i32} : !cta.buffer<128x64xf16, #s>, !tile.desc<128x64xf16>
  tile.return
}
