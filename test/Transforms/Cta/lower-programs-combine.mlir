// In a pipeline, passes trust earlier passes, so combines of CTAs may remain.
// RUN: not tilec %s --start-after=cta-lower-combines --target=sm_90a -o %t.ptx 2>&1 | FileCheck %s
// CHECK: [[#@LINE+4]]:12: error: 'cta.combine' op must be lowered before the programs become loops; run cta-lower-combines first
tile.kernel @left(%x: i32, %y: i32, %z: i32, %k: i32) {
  tile.programs (%i, %j, %n, %exists, %first, %end, %piece, %pieces) in (%x, %y, %z) steps (%k) #tile.work<order = grid, tail = <sum = 5, piece = 8, fixed = 18>> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #cta.layout<[64, 64], register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], lane = [[0, 32], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [[16, 0], [32, 0]]>>
    %sum = cta.combine %zero : tensor<64x64xf32, #cta.layout<[64, 64], register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], lane = [[0, 32], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [[16, 0], [32, 0]]>>
  }
  tile.return
}
