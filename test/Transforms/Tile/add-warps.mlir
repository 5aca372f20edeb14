// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-add-warps))' | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(cta-attach-target{name=sm_80},tile.kernel(tile-add-warps))' | FileCheck %s --check-prefix=SM80
// SM80-NOT: num_warps = 8

// RUN: tile-opt %s --pass-pipeline='builtin.module(cta-attach-target{name=sm_100f},tile.kernel(tile-add-warps))' | FileCheck %s --check-prefix=TENSOR

// tcgen05 needs a warp group, but a small dot does not need tcgen05.
// SM80-LABEL: tile.kernel @few_warps
// SM80-SAME: num_warps = 2
// TENSOR-LABEL: tile.kernel @few_warps
// TENSOR-SAME: num_warps = 4
// TENSOR-LABEL: tile.kernel @negative_small
// TENSOR-SAME: num_warps = 2
tile.kernel @few_warps() attributes {num_warps = 2 : i32} {
  %a = arith.constant dense<1.0> : tensor<64x64xf16>
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %d = tile.dot %a, %a, %z : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.print "" %d : tensor<64x64xf32>
  tile.return
}
tile.kernel @negative_small() attributes {num_warps = 2 : i32} {
  %a = arith.constant dense<1.0> : tensor<16x16xf16>
  %z = arith.constant dense<0.0> : tensor<16x16xf32>
  %d = tile.dot %a, %a, %z : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf32>
  tile.print "" %d : tensor<16x16xf32>
  tile.return
}

// The second dot multiplies values computed from the first one, and both have rows for two warp groups.
// CHECK-LABEL: tile.kernel @chain
// CHECK-SAME: num_warps = 8
tile.kernel @chain(%n: i32, %desc: !tile.desc<64x64xf16> {tile.tensor_map = #tile.tensor_map<base = "k">}) attributes {num_warps = 4 : i32} {
  %q = arith.constant dense<1.0> : tensor<128x64xf16>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %o = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x64xf32>) : i32 {
    %k = tile.desc_load %desc[%i, %i] : !tile.desc<64x64xf16> -> tensor<64x64xf16>
    %s = tile.dot %q, %k, %zero : tensor<128x64xf16>, tensor<64x64xf16> -> tensor<128x64xf32>
    %e = math.exp2 %s : tensor<128x64xf32>
    %p = arith.truncf %e : tensor<128x64xf32> to tensor<128x64xf16>
    %d = tile.dot %p, %k, %acc : tensor<128x64xf16>, tensor<64x64xf16> -> tensor<128x64xf32>
    scf.yield %d : tensor<128x64xf32>
  }
  tile.print "o" %o : tensor<128x64xf32>
  tile.return
}

// Threads copy all operands.
// CHECK-LABEL: tile.kernel @negative_blocks
// CHECK-NOT: num_warps = 8
tile.kernel @negative_blocks(%n: i32) attributes {num_warps = 4 : i32} {
  %q = arith.constant dense<1.0> : tensor<128x64xf16>
  %k = arith.constant dense<1.0> : tensor<64x64xf16>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %o = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x64xf32>) : i32 {
    %s = tile.dot %q, %k, %zero : tensor<128x64xf16>, tensor<64x64xf16> -> tensor<128x64xf32>
    %e = math.exp2 %s : tensor<128x64xf32>
    %p = arith.truncf %e : tensor<128x64xf32> to tensor<128x64xf16>
    %d = tile.dot %p, %k, %acc : tensor<128x64xf16>, tensor<64x64xf16> -> tensor<128x64xf32>
    scf.yield %d : tensor<128x64xf32>
  }
  tile.print "o" %o : tensor<128x64xf32>
  tile.return
}

// Threads copy all operands, but one warp group has too few registers for two blocks of 128 rows and columns.
// CHECK-LABEL: tile.kernel @sums
// CHECK-SAME: num_warps = 8
tile.kernel @sums(%n: i32) attributes {num_warps = 4 : i32} {
  %q = arith.constant dense<1.0> : tensor<128x128xf16>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%first = %zero, %second = %zero) -> (tensor<128x128xf32>, tensor<128x128xf32>) : i32 {
    %s = tile.dot %q, %q, %first : tensor<128x128xf16>, tensor<128x128xf16> -> tensor<128x128xf32>
    %p = arith.truncf %s : tensor<128x128xf32> to tensor<128x128xf16>
    %d = tile.dot %p, %q, %second : tensor<128x128xf16>, tensor<128x128xf16> -> tensor<128x128xf32>
    scf.yield %s, %d : tensor<128x128xf32>, tensor<128x128xf32>
  }
  tile.print "a" %r#0 : tensor<128x128xf32>
  tile.print "b" %r#1 : tensor<128x128xf32>
  tile.return
}

// Nor for 128 rows and columns and two blocks of this size that are combined with them after the loop.
// CHECK-LABEL: tile.kernel @blocks_of_epilogue
// CHECK-SAME: num_warps = 8
tile.kernel @blocks_of_epilogue(%n: i32, %g: !tile.ptr<f16>) attributes {num_warps = 4 : i32} {
  %q = arith.constant dense<1.0> : tensor<128x128xf16>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %s = tile.dot %q, %q, %acc : tensor<128x128xf16>, tensor<128x128xf16> -> tensor<128x128xf32>
    scf.yield %s : tensor<128x128xf32>
  }
  %gs = tile.splat %g : !tile.ptr<f16> -> tensor<128x128x!tile.ptr<f16>>
  %gate = tile.load %gs : tensor<128x128x!tile.ptr<f16>>
  %up = tile.load %gs : tensor<128x128x!tile.ptr<f16>>
  %both = arith.mulf %gate, %up : tensor<128x128xf16>
  %wide = arith.extf %both : tensor<128x128xf16> to tensor<128x128xf32>
  %o = arith.mulf %r, %wide : tensor<128x128xf32>
  tile.print "o" %o : tensor<128x128xf32>
  tile.return
}

// With one block, enough registers are left.
// CHECK-LABEL: tile.kernel @negative_block_of_epilogue
// CHECK-NOT: num_warps = 8
tile.kernel @negative_block_of_epilogue(%n: i32, %g: !tile.ptr<f16>) attributes {num_warps = 4 : i32} {
  %q = arith.constant dense<1.0> : tensor<128x128xf16>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %s = tile.dot %q, %q, %acc : tensor<128x128xf16>, tensor<128x128xf16> -> tensor<128x128xf32>
    scf.yield %s : tensor<128x128xf32>
  }
  %gs = tile.splat %g : !tile.ptr<f16> -> tensor<128x128x!tile.ptr<f16>>
  %gate = tile.load %gs : tensor<128x128x!tile.ptr<f16>>
  %wide = arith.extf %gate : tensor<128x128xf16> to tensor<128x128xf32>
  %o = arith.mulf %r, %wide : tensor<128x128xf32>
  tile.print "o" %o : tensor<128x128xf32>
  tile.return
}

// One warp group has exactly 64 rows.
// CHECK-LABEL: tile.kernel @negative_rows
// CHECK-NOT: num_warps = 8
tile.kernel @negative_rows(%n: i32, %desc: !tile.desc<64x64xf16> {tile.tensor_map = #tile.tensor_map<base = "k">}) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %o = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %q = tile.desc_load %desc[%i, %i] : !tile.desc<64x64xf16> -> tensor<64x64xf16>
    %s = tile.dot %q, %q, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %p = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
    %d = tile.dot %p, %q, %acc : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.print "o" %o : tensor<64x64xf32>
  tile.return
}

// One dot per step.
// CHECK-LABEL: tile.kernel @negative_dot
// CHECK-NOT: num_warps = 8
tile.kernel @negative_dot(%n: i32, %desc: !tile.desc<64x64xf16> {tile.tensor_map = #tile.tensor_map<base = "k">}) attributes {num_warps = 4 : i32} {
  %q = arith.constant dense<1.0> : tensor<128x64xf16>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %o = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x64xf32>) : i32 {
    %k = tile.desc_load %desc[%i, %i] : !tile.desc<64x64xf16> -> tensor<64x64xf16>
    %d = tile.dot %q, %k, %acc : tensor<128x64xf16>, tensor<64x64xf16> -> tensor<128x64xf32>
    scf.yield %d : tensor<128x64xf32>
  }
  tile.print "o" %o : tensor<128x64xf32>
  tile.return
}

// One accumulator that a step adds to fits in 128 registers per thread; two leave no registers.
// CHECK-LABEL: tile.kernel @gated
// CHECK-SAME: num_warps = 8
tile.kernel @gated(%n: i32, %desc: !tile.desc<128x64xf16> {tile.tensor_map = #tile.tensor_map<base = "k">}) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%gate = %zero, %up = %zero) -> (tensor<128x128xf32>, tensor<128x128xf32>) : i32 {
    %x = tile.desc_load %desc[%i, %i] : !tile.desc<128x64xf16> -> tensor<128x64xf16>
    %w = tile.desc_load %desc[%i, %c0] : !tile.desc<128x64xf16> -> tensor<128x64xf16>
    %v = tile.trans %w {order = array<i32: 1, 0>} : tensor<128x64xf16> -> tensor<64x128xf16>
    %g = tile.dot %x, %v, %gate : tensor<128x64xf16>, tensor<64x128xf16> -> tensor<128x128xf32>
    %u = tile.dot %x, %v, %up : tensor<128x64xf16>, tensor<64x128xf16> -> tensor<128x128xf32>
    scf.yield %g, %u : tensor<128x128xf32>, tensor<128x128xf32>
  }
  tile.print "a" %r#0 : tensor<128x128xf32>
  tile.print "b" %r#1 : tensor<128x128xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @negative_one_sum
// CHECK-NOT: num_warps = 8
tile.kernel @negative_one_sum(%n: i32, %desc: !tile.desc<128x64xf16> {tile.tensor_map = #tile.tensor_map<base = "k">}) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %o = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %x = tile.desc_load %desc[%i, %i] : !tile.desc<128x64xf16> -> tensor<128x64xf16>
    %w = tile.desc_load %desc[%i, %c0] : !tile.desc<128x64xf16> -> tensor<128x64xf16>
    %v = tile.trans %w {order = array<i32: 1, 0>} : tensor<128x64xf16> -> tensor<64x128xf16>
    %d = tile.dot %x, %v, %acc : tensor<128x64xf16>, tensor<64x128xf16> -> tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  tile.print "o" %o : tensor<128x128xf32>
  tile.return
}
