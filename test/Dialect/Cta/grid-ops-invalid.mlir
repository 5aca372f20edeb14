// RUN: tile-opt %s --verify-diagnostics --split-input-file

tile.kernel @no_layout(%p: !tile.ptr<i32>) {
  %x = arith.constant dense<1.0> : tensor<64xf32>
  // expected-error @below {{'cta.partial_store' op tensor has no layout}}
  cta.partial_store %x, %p : tensor<64xf32>, !tile.ptr<i32>
  tile.return
}

// -----

#x = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>

tile.kernel @half(%p: !tile.ptr<i32>) {
  %x = arith.constant dense<1.0> : tensor<64xf16, #x>
  // expected-error @below {{'cta.partial_add' op moves 'f16' but partial accumulators are f32 or i32}}
  %s = cta.partial_add %x, %p : tensor<64xf16, #x>, !tile.ptr<i32>
  tile.return
}

// -----

#x = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>

tile.kernel @columns(%p: !tile.ptr<i32>) {
  %x = arith.constant dense<1.0> : tensor<64xf32, #x>
  // expected-error @below {{'cta.partial_store' op moves 8 columns of 'tensor<64xf32>'}}
  cta.partial_store %x, %p {columns = 8 : i32} : tensor<64xf32, #x>, !tile.ptr<i32>
  tile.return
}

// -----

#x = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>

tile.kernel @whole(%n: i32) {
  %x = arith.constant dense<1.0> : tensor<64xf32, #x>
  tile.programs (%i, %j, %k, %exists) in (%n, %n, %n) #tile.work<order = grid> {
    // expected-error @below {{'cta.combine' op must be in programs whose steps are split over CTAs}}
    %sum = cta.combine %x : tensor<64xf32, #x>
  }
  tile.return
}

// -----

#x = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>

tile.kernel @combined_half(%n: i32) {
  %x = arith.constant dense<1.0> : tensor<64xf16, #x>
  tile.programs (%i, %j, %k, %exists, %first) in (%n, %n, %n) #tile.work<order = grid, split_k = 2> {
    // expected-error @below {{'cta.combine' op moves 'f16' but partial accumulators are f32 or i32}}
    %sum = cta.combine %x : tensor<64xf16, #x>
  }
  tile.return
}
