// RUN: tile-opt %s --verify-diagnostics --split-input-file

#x = #cta.layout<[64], register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[0], [0]]>
#s = #cta.layout<[64], offset = [[1], [2], [4], [8], [16], [32]]>

tile.kernel @bytes(%p: !tile.ptr<f16>) {
  %q = tile.splat %p : !tile.ptr<f16> -> tensor<64x!tile.ptr<f16>, #x>
  %b = cta.alloc : !cta.buffer<64xf16, #s>
  // expected-error @below {{'cta.async_copy' op moves 2 bytes with one instruction; cp.async moves 4, 8 or 16}}
  cta.async_copy %q, %b {vector = 1 : i32} : tensor<64x!tile.ptr<f16>, #x>, !cta.buffer<64xf16, #s>
  tile.return
}

// -----

#x = #cta.layout<[64], register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[0], [0]]>
#y = #cta.layout<[64], register = [[32]], lane = [[1], [2], [4], [8], [16]], warp = [[0], [0]]>
#s = #cta.layout<[64], offset = [[1], [2], [4], [8], [16], [32]]>

tile.kernel @mask(%p: !tile.ptr<f16>, %c: i1) {
  %q = tile.splat %p : !tile.ptr<f16> -> tensor<64x!tile.ptr<f16>, #x>
  %m = tile.splat %c : i1 -> tensor<64xi1, #y>
  %b = cta.alloc : !cta.buffer<64xf16, #s>
  // expected-error @below {{'cta.async_copy' op mask is 'tensor<64xi1}}
  cta.async_copy %q, %b mask %m : tensor<64xi1, #y> {vector = 2 : i32} : tensor<64x!tile.ptr<f16>, #x>, !cta.buffer<64xf16, #s>
  tile.return
}

// -----

#x = #cta.layout<[64], register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[0], [0]]>
#s = #cta.layout<[64], offset = [[1], [2], [4], [8], [16], [32]]>

tile.kernel @element(%p: !tile.ptr<f32>) {
  %q = tile.splat %p : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #x>
  %b = cta.alloc : !cta.buffer<64xf16, #s>
  // expected-error @below {{'cta.async_copy' op tensor is 'tensor<64xf32>' but the buffer holds 'tensor<64xf16>'}}
  cta.async_copy %q, %b {vector = 2 : i32} : tensor<64x!tile.ptr<f32>, #x>, !cta.buffer<64xf16, #s>
  tile.return
}
