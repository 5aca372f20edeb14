// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-lower-programs))' --verify-diagnostics --split-input-file

tile.kernel @other_cluster(%x: i32, %y: i32, %z: i32) {
  // expected-error @below {{'tile.programs' op distributes work to clusters of 2 CTAs but the kernel's clusters have 1}}
  tile.programs (%i, %j, %k, %exists) in (%x, %y, %z) #tile.work<order = grid, cluster = [2, 1]> {
    tile.print "" %i : i32
  }
  tile.return
}
