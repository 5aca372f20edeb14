// Tensor memory that the target lacks, and operands that no descriptor describes.
// RUN: tile-opt %s --convert-cta-to-nvvm -split-input-file -verify-diagnostics

#s = #cta.layout<[4], offset = [[1], [2]]>
tile.kernel @target() attributes {shared_bytes = 16 : i64} {
  %place = cta.alloc at 0 : !cta.buffer<4xi32, #s>
  // expected-error @below {{needs tensor memory, which sm_90a lacks; sm_100a has it}}
  %base = cta.tensor_memory_open 32 through %place : !cta.buffer<4xi32, #s>
  tile.return
}

// -----

module attributes {cta.target = #cta.target<sm_100a>} {
tile.kernel @address() {
  // expected-error @below {{has no address; run cta-allocate-tensor-memory first}}
  %t = cta.tensor_memory_alloc : !cta.tensor_memory<64x64xf32>
  tile.return
}
}

// -----

#plain = #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0]]>
#s = #cta.layout<[4], offset = [[1], [2]]>
module attributes {cta.target = #cta.target<sm_100a>} {
tile.kernel @layout() attributes {shared_bytes = 8208 : i64} {
  %place = cta.alloc at 8192 : !cta.buffer<4xi32, #s>
  %a = cta.alloc at 0 : !cta.buffer<64x64xf16, #plain>
  %base = cta.tensor_memory_open 64 through %place : !cta.buffer<4xi32, #s>
  %t = cta.tensor_memory_alloc at %base + 0 : !cta.tensor_memory<64x64xf32>
  // expected-error @below {{operands do not have a layout that a matrix descriptor can express}}
  cta.tcgen05_mma %a, %a, %t {m = 64 : i32, n = 64 : i32} : !cta.buffer<64x64xf16, #plain>, !cta.buffer<64x64xf16, #plain>, !cta.tensor_memory<64x64xf32>
  tile.return
}
}
