// Instructions that the target lacks are errors, not aborts of the code generator.
// RUN: tile-opt %s --cta-attach-target=name=sm_75 --convert-cta-to-nvvm -split-input-file -verify-diagnostics

#x = #cta.layout<[32, 16], register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [[16, 0]]>
#s = #cta.layout<[32, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0]]>
tile.kernel @async_copy(%p: !tile.ptr<f16>) attributes {num_warps = 2 : i32} {
  %ps = tile.splat %p : !tile.ptr<f16> -> tensor<32x16x!tile.ptr<f16>, #x>
  %b = cta.alloc at 0 : !cta.buffer<32x16xf16, #s>
  // expected-error @+1 {{needs cp.async, which sm_75 lacks; sm_80 and later have it}}
  cta.async_copy %ps, %b {vector = 8 : i32} : tensor<32x16x!tile.ptr<f16>, #x>, !cta.buffer<32x16xf16, #s>
  tile.return
}

// -----

#a = #cta.layout<[16, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#b = #cta.layout<[16, 8], register = [[1, 0], [8, 0]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = []>
#c = #cta.layout<[16, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
tile.kernel @mma() attributes {num_warps = 1 : i32} {
  %a = arith.constant dense<1.0> : tensor<16x16xbf16, #a>
  %b = arith.constant dense<1.0> : tensor<16x8xbf16, #b>
  %c = arith.constant dense<1.0> : tensor<16x8xf32, #c>
  // expected-error @+1 {{is m16n8k16 of 'bf16' and 'bf16' into 'f32', which sm_75 does not support}}
  %d = cta.mma_sync %a, %b, %c {shape = array<i32: 16, 8, 16>} : tensor<16x16xbf16, #a>, tensor<16x8xbf16, #b> -> tensor<16x8xf32, #c>
  tile.return
}

// -----

#a = #cta.layout<[64, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8], [8, 0], [16, 0], [32, 0]]>
#b = #cta.layout<[16, 64], offset = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 1], [0, 2], [8, 4], [0, 8], [0, 16], [0, 32]]>
#c = #cta.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
tile.kernel @wgmma() attributes {shared_bytes = 32768 : i64} {
  %a = cta.alloc at 0 : !cta.buffer<64x16xf16, #a>
  %b = cta.alloc at 16384 : !cta.buffer<16x64xf16, #b>
  %z = arith.constant dense<0.0> : tensor<64x64xf32, #c>
  // expected-error @+1 {{needs wgmma, which sm_75 lacks; sm_90a has it}}
  %d, %d_t = cta.wgmma %a, %b, %z {n = 64 : i32} : !cta.buffer<64x16xf16, #a>, !cta.buffer<16x64xf16, #b> -> tensor<64x64xf32, #c>
  tile.return
}

// -----

#s = #cta.layout<[64], offset = [[1], [2], [4], [8], [16], [32]]>
tile.kernel @tma(%d: !tile.desc<64xf32>, %i: i32) attributes {num_warps = 1 : i32} {
  %b = cta.alloc at 0 : !cta.buffer<64xf32, #s>
  // expected-error @+1 {{needs TMA, which sm_75 lacks; sm_90 and later have it}}
  cta.tma_store %b, %d[%i] : !cta.buffer<64xf32, #s>, !tile.desc<64xf32>
  tile.return
}

// -----

tile.kernel @registers() {
  // expected-error @+1 {{needs setmaxnreg, which sm_75 lacks; sm_90a has it}}
  cta.warp_roles role <consumer, warps = 4, registers = 240> {
    cta.barrier
  } role <producer, warps = 4, registers = 24, one_thread> {
    cta.barrier
  }
  tile.return
}

// -----

#bytes = #cta.layout<[128], offset = [[1], [2], [4], [8], [16], [32], [64]]>
tile.kernel @tensor_map(%base: !tile.ptr<f32>, %n: i32, %ld: i64, %place: !tile.ptr<i8>) attributes {num_warps = 1 : i32} {
  %b = cta.alloc at 0 : !cta.buffer<128xi8, #bytes>
  // expected-error @+1 {{needs tensormap.replace, which sm_75 lacks; sm_90a has it}}
  %d = cta.make_tensor_map %base, [%n], [%ld] at %place via %b {box = array<i64: 256>, swizzle = 0 : i32} : !tile.ptr<f32>, !tile.ptr<i8>, !cta.buffer<128xi8, #bytes> -> !tile.desc<256xf32>
  tile.return
}
