// RUN: tile-opt %s --verify-diagnostics --split-input-file

tile.kernel @types(%a: i32) {
  %x = arith.constant dense<0.0> : tensor<64x64xbf16>
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-error @below {{multiplies 'bf16' by 'bf16' into 'f32', which its engine #cta.wgmma<m64n64k16, f16, f16, f32, groups = [1, 1]> does not support}}
  %d = tile.dot %x, %x, %c {engine = #cta.wgmma<m64n64k16, f16, f16, f32, groups = [1, 1]>} : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
  tile.return
}

// -----

tile.kernel @rows(%a: i32) {
  %x = arith.constant dense<0.0> : tensor<64x64xf16>
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-error @below {{has 64 rows and 64 columns, which its engine #cta.wgmma<m64n64k16, f16, f16, f32, groups = [2, 1]> cannot compute with whole instructions}}
  %d = tile.dot %x, %x, %c {engine = #cta.wgmma<m64n64k16, f16, f16, f32, groups = [2, 1]>} : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.return
}

// -----

tile.kernel @columns(%a: i32) {
  %x = arith.constant dense<0.0> : tensor<64x64xf16>
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-error @below {{has 64 rows and 64 columns, which its engine}}
  %d = tile.dot %x, %x, %c {engine = #cta.wgmma<m64n128k16, f16, f16, f32, groups = [1, 1]>} : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.return
}

// -----

tile.kernel @swapped(%a: i32) {
  %x = arith.constant dense<0.0> : tensor<64x16xf16>
  %y = arith.constant dense<0.0> : tensor<16x16xf16>
  %c = arith.constant dense<0.0> : tensor<64x16xf32>
  // expected-error @below {{has 16 rows and 64 columns, swapped, which its engine}}
  %d = tile.dot %x, %y, %c {engine = #cta.wgmma<m64n16k16, f16, f16, f32, groups = [1, 1], swapped>} : tensor<64x16xf16>, tensor<16x16xf16> -> tensor<64x16xf32>
  tile.return
}

// -----

tile.kernel @step(%a: i32) {
  %x = arith.constant dense<0.0> : tensor<16x8xf16>
  %y = arith.constant dense<0.0> : tensor<8x8xf16>
  %c = arith.constant dense<0.0> : tensor<16x8xf32>
  // expected-error @below {{has 8 elements along k, fewer than a step of its engine #cta.mma_sync<m16n8k16, f16, f16, f32, warps = [1, 4]>}}
  %d = tile.dot %x, %y, %c {engine = #cta.mma_sync<m16n8k16, f16, f16, f32, warps = [1, 4]>} : tensor<16x8xf16>, tensor<8x8xf16> -> tensor<16x8xf32>
  tile.return
}

// -----

// An attribute that is not an engine.
tile.kernel @other(%a: i32) {
  %x = arith.constant dense<0.0> : tensor<16x16xf16>
  %c = arith.constant dense<0.0> : tensor<16x16xf32>
  // expected-error @below {{attribute 'engine' failed to satisfy constraint: Engine instance}}
  %d = tile.dot %x, %x, %c {engine = "wgmma"} : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf32>
  tile.return
}

// -----

// expected-error @below {{wgmma has no instruction m64n20k16 of 'f16' and 'f16' into 'f32'}}
func.func private @columns() attributes {x = #cta.wgmma<m64n20k16, f16, f16, f32, groups = [1, 1]>}

// -----

// expected-error @below {{wgmma has no instruction m64n64k32 of 'f16' and 'f16' into 'f32'}}
func.func private @step() attributes {x = #cta.wgmma<m64n64k32, f16, f16, f32, groups = [1, 1]>}

// -----

// expected-error @below {{wgmma has no instruction m64n64k16 of 'f16' and 'bf16' into 'f32'}}
func.func private @types() attributes {x = #cta.wgmma<m64n64k16, f16, bf16, f32, groups = [1, 1]>}

// -----

// expected-error @below {{wgmma instructions have 64 rows, not 16}}
func.func private @rows() attributes {x = #cta.wgmma<m16n64k16, f16, f16, f32, groups = [1, 1]>}

// -----

// expected-error @below {{the sizes of a grid of warp groups must be powers of two, not 3 and 1}}
func.func private @grid() attributes {x = #cta.wgmma<m64n64k16, f16, f16, f32, groups = [3, 1]>}

// -----

// expected-error @below {{a grid of groups has two sizes, along m and n}}
func.func private @sizes() attributes {x = #cta.wgmma<m64n64k16, f16, f16, f32, groups = [1]>}

// -----

// expected-error @below {{only dots whose operands are loaded by TMA can be swapped}}
func.func private @swap() attributes {x = #cta.wgmma<m64n64k16, f16, f16, f32, groups = [1, 1], a = registers, swapped>}

// -----

// expected-error @below {{'m64' is not an instruction shape, such as m64n256k16}}
func.func private @shape() attributes {x = #cta.wgmma<m64, f16, f16, f32, groups = [1, 1]>}

// -----

// expected-error @below {{mma.sync has no instruction m16n8k64 of 'f16' and 'f16' into 'f32'}}
func.func private @mma_step() attributes {x = #cta.mma_sync<m16n8k64, f16, f16, f32, warps = [1, 1]>}

// -----

// expected-error @below {{mma.sync instructions are m16n8, not m64n8}}
func.func private @mma_rows() attributes {x = #cta.mma_sync<m64n8k16, f16, f16, f32, warps = [1, 1]>}

// -----

// expected-error @below {{the sizes of a grid of warps must be powers of two, not 3 and 1}}
func.func private @mma_grid() attributes {x = #cta.mma_sync<m16n8k16, f16, f16, f32, warps = [3, 1]>}

// -----

// expected-error @below {{only dots whose operands are loaded by TMA can be swapped}}
func.func private @swap_stored() attributes {x = #cta.wgmma<m64n64k16, f16, f16, f32, groups = [1, 1], b = threads, swapped>}

// -----

// expected-error @below {{wgmma reads b from shared memory, not from registers}}
func.func private @right() attributes {x = #cta.wgmma<m64n64k16, f16, f16, f32, groups = [1, 1], b = registers>}

// -----

// expected-error @below {{'memory' is not a source of operands; expected tma, threads, registers or transposed}}
func.func private @source() attributes {x = #cta.wgmma<m64n64k16, f16, f16, f32, groups = [1, 1], a = memory>}

// -----

// expected-error @below {{accumulators of 'f16' have full precision and must not be promoted}}
func.func private @promoted() attributes {x = #cta.wgmma<m64n64k16, f16, f16, f32, groups = [1, 1], promote = 32>}

// -----

// expected-error @below {{promote is 48 but must be a multiple of the 32 elements of a step along k}}
func.func private @promoted_step() attributes {x = #cta.wgmma<m64n64k32, f8E4M3FN, f8E5M2, f32, groups = [1, 1], promote = 48>}

// -----

// expected-error @below {{kWidth is 12 but must be 2, the elements along k in a register, or that times a power of two}}
func.func private @mma_width() attributes {x = #cta.mma_sync<m16n8k16, f16, f16, f32, warps = [1, 1], kWidth = 12>}

// -----

// expected-error @below {{mma.sync has no instruction m16n8k32 of 'f8E4M3FN' and 'f8E4M3FN' into 'f32' with such scales}}
func.func private @mma_scales() attributes {x = #cta.mma_sync<m16n8k32, f8E4M3FN, f8E4M3FN, f32, warps = [1, 1], scales = 16>}

// -----

// expected-error @below {{kWidth is 8, but elements with scales keep their order along k}}
func.func private @mma_scales_order() attributes {x = #cta.mma_sync<m16n8k32, f8E4M3FN, f8E4M3FN, f32, warps = [1, 1], kWidth = 8, scales = 32>}
