// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-lower-programs))' --verify-diagnostics

tile.kernel @no_sum(%x: i32, %y: i32, %z: i32) attributes {cluster = array<i32: 1, 1, 2>} {
  // expected-error @below {{'tile.programs' op has 0 cta.combine; CTAs that share its K steps need one}}
  tile.programs (%i, %j, %k, %exists, %first) in (%x, %y, %z) #tile.work<order = grid, split_k = 2> {
    tile.print "" %first : i32
  }
  tile.return
}
