// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-lower-dot))' --verify-diagnostics

#a = #cta.layout<[64, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#b = #cta.layout<[16, 64], register = [[1, 0], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 0], [0, 0]]>
#c = #cta.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
tile.kernel @computed() {
  %a = arith.constant dense<0.0> : tensor<64x16xf16, #a>
  %b = arith.constant dense<0.0> : tensor<16x64xf16, #b>
  %c = arith.constant dense<0.0> : tensor<64x64xf32, #c>
  // expected-error @below {{operands of a dot with engine #cta.wgmma<m64n64k16, f16, f16, f32, groups = [1, 1], a = registers> must be in shared memory}}
  %d = tile.dot %a, %b, %c {engine = #cta.wgmma<m64n64k16, f16, f16, f32, groups = [1, 1], a = registers>} : tensor<64x16xf16, #a>, tensor<16x64xf16, #b> -> tensor<64x64xf32, #c>
  tile.print "" %d : tensor<64x64xf32, #c>
  tile.return
}
