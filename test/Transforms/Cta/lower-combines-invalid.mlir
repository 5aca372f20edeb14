// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-lower-combines))' --verify-diagnostics --split-input-file

tile.kernel @no_sum(%x: i32, %y: i32, %z: i32) attributes {cluster = array<i32: 1, 1, 2>, cluster_ctas = 2 : i32} {
  // expected-error @below {{'tile.programs' op has no cta.combine; CTAs that share its K steps need one}}
  tile.programs (%i, %j, %k, %exists, %first) in (%x, %y, %z) #tile.work<order = grid, split_k = 2> {
    tile.print "" %first : i32
  }
  tile.return
}

// -----

#x = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>
tile.kernel @apart(%x: i32, %y: i32, %z: i32) attributes {cluster = array<i32: 1, 1, 2>, cluster_ctas = 2 : i32} {
  %a = arith.constant dense<0.0> : tensor<64xf32, #x>
  tile.programs (%i, %j, %k, %exists, %first) in (%x, %y, %z) #tile.work<order = grid, split_k = 2> {
    %s = cta.combine %a : tensor<64xf32, #x>
    tile.print "" %s : tensor<64xf32, #x>
    // expected-error @below {{'cta.combine' op follows 'tile.print'; the cta.combine operations of a program must be consecutive}}
    %t = cta.combine %a : tensor<64xf32, #x>
  }
  tile.return
}
