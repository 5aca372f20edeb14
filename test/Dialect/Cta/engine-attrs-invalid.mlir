// RUN: tile-opt %s --verify-diagnostics --split-input-file

tile.kernel @types(%a: i32) {
  %x = arith.constant dense<0.0> : tensor<64x64xbf16>
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-error @below {{multiplies 'bf16' by 'bf16' into 'f32', which its engine #cta.wgmma<m64n64k16, f16, f16, f32, groups = [1, 1]> does not}}
  %d = tile.dot %x, %x, %c {engine = #cta.wgmma<m64n64k16, f16, f16, f32, groups = [1, 1]>} : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
  tile.return
}

// -----

tile.kernel @rows(%a: i32) {
  %x = arith.constant dense<0.0> : tensor<64x64xf16>
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-error @below {{has 64 rows and 64 columns of which its engine #cta.wgmma<m64n64k16, f16, f16, f32, groups = [2, 1]> has no whole instructions}}
  %d = tile.dot %x, %x, %c {engine = #cta.wgmma<m64n64k16, f16, f16, f32, groups = [2, 1]>} : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.return
}

// -----

tile.kernel @columns(%a: i32) {
  %x = arith.constant dense<0.0> : tensor<64x64xf16>
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-error @below {{has 64 rows and 64 columns of which its engine}}
  %d = tile.dot %x, %x, %c {engine = #cta.wgmma<m64n128k16, f16, f16, f32, groups = [1, 1]>} : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.return
}

// -----

tile.kernel @swapped(%a: i32) {
  %x = arith.constant dense<0.0> : tensor<64x16xf16>
  %y = arith.constant dense<0.0> : tensor<16x16xf16>
  %c = arith.constant dense<0.0> : tensor<64x16xf32>
  // expected-error @below {{has 16 rows and 64 columns, swapped, of which its engine}}
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

// What is not an engine at all.
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

// expected-error @below {{an instruction of wgmma has 64 rows, not 16}}
func.func private @rows() attributes {x = #cta.wgmma<m16n64k16, f16, f16, f32, groups = [1, 1]>}

// -----

// expected-error @below {{a grid of warp groups has powers of two, not 3 and 1}}
func.func private @grid() attributes {x = #cta.wgmma<m64n64k16, f16, f16, f32, groups = [3, 1]>}

// -----

// expected-error @below {{a grid of groups has two sizes, along m and n}}
func.func private @sizes() attributes {x = #cta.wgmma<m64n64k16, f16, f16, f32, groups = [1]>}

// -----

// expected-error @below {{only products of operands that TMA brings are swapped}}
func.func private @swap() attributes {x = #cta.wgmma<m64n64k16, f16, f16, f32, groups = [1, 1], a = registers, swapped>}

// -----

// expected-error @below {{'m64' is not a shape of an instruction, such as m64n256k16}}
func.func private @shape() attributes {x = #cta.wgmma<m64, f16, f16, f32, groups = [1, 1]>}

// -----

// expected-error @below {{mma.sync has no instruction m16n8k64 of 'f16' and 'f16' into 'f32'}}
func.func private @mma_step() attributes {x = #cta.mma_sync<m16n8k64, f16, f16, f32, warps = [1, 1]>}

// -----

// expected-error @below {{an instruction of mma.sync is m16n8, not m64n8}}
func.func private @mma_rows() attributes {x = #cta.mma_sync<m64n8k16, f16, f16, f32, warps = [1, 1]>}

// -----

// expected-error @below {{a grid of warps has powers of two, not 3 and 1}}
func.func private @mma_grid() attributes {x = #cta.mma_sync<m16n8k16, f16, f16, f32, warps = [3, 1]>}

// -----

// expected-error @below {{only products of operands that TMA brings are swapped}}
func.func private @swap_stored() attributes {x = #cta.wgmma<m64n64k16, f16, f16, f32, groups = [1, 1], b = threads, swapped>}

// -----

// expected-error @below {{wgmma reads b from shared memory, not from registers}}
func.func private @right() attributes {x = #cta.wgmma<m64n64k16, f16, f16, f32, groups = [1, 1], b = registers>}

// -----

// expected-error @below {{'memory' brings no operand; tma, threads, registers and transposed do}}
func.func private @source() attributes {x = #cta.wgmma<m64n64k16, f16, f16, f32, groups = [1, 1], a = memory>}

// -----

// expected-error @below {{sums of products of 'f16' have all their bits and are not promoted}}
func.func private @promoted() attributes {x = #cta.wgmma<m64n64k16, f16, f16, f32, groups = [1, 1], promote = 32>}

// -----

// expected-error @below {{sums are promoted after whole steps of 32 elements along k, not after 48}}
func.func private @promoted_step() attributes {x = #cta.wgmma<m64n64k32, f8E4M3FN, f8E5M2, f32, groups = [1, 1], promote = 48>}

// -----

// expected-error @below {{a thread holds 2 elements along k in a register, or a power of two times as many, not kWidth = 12}}
func.func private @mma_width() attributes {x = #cta.mma_sync<m16n8k16, f16, f16, f32, warps = [1, 1], kWidth = 12>}
