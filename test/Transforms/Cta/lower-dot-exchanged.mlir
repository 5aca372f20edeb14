// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-settle-engine,cta-assign-layouts,cta-remove-conversions,cta-lower-descriptors,cta-lower-dot))' --mlir-print-local-scope | FileCheck %s

// Two accumulators that a loop exchanges are copied after their waits, because LLVM cannot copy them earlier; an
// accumulator that is only added to, also in part or in a branch, keeps its registers.
// CHECK-LABEL: tile.kernel @exchanged
// CHECK-COUNT-2: cta.copy_registers
// CHECK-NOT: cta.copy_registers
// CHECK: tile.return
tile.kernel @exchanged(%i: i32, %c: i1, %d: !tile.desc<64x64xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %c1 = arith.constant 1 : i32
  %sums:4 = scf.for %k = %c1 to %i step %c1 iter_args(%x = %z, %y = %z, %u = %z, %v = %z) -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) : i32 {
    %a = tile.desc_load %d[%k, %i] : !tile.desc<64x64xf16> -> tensor<64x64xf16>
    %x1 = tile.dot %a, %a, %x : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %y1 = tile.dot %a, %a, %y : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %half = arith.mulf %u, %z : tensor<64x64xf32>
    %u1 = tile.dot %a, %a, %half : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %v1 = scf.if %c -> tensor<64x64xf32> {
      %v2 = tile.dot %a, %a, %v : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
      scf.yield %v2 : tensor<64x64xf32>
    } else {
      scf.yield %v : tensor<64x64xf32>
    }
    scf.yield %y1, %x1, %u1, %v1 : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
  }
  tile.print "" %sums#0, %sums#1, %sums#2, %sums#3 : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
  tile.return
}

// So are accumulators that an earlier loop may have exchanged, and those that an outer loop exchanges.
// CHECK-LABEL: tile.kernel @inside
// CHECK-COUNT-1: cta.copy_registers
// CHECK-NOT: cta.copy_registers
// CHECK: tile.return
tile.kernel @inside(%i: i32, %d: !tile.desc<64x64xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %c1 = arith.constant 1 : i32
  %sums:2 = scf.for %k = %c1 to %i step %c1 iter_args(%x = %z, %y = %z) -> (tensor<64x64xf32>, tensor<64x64xf32>) : i32 {
    %turned:2 = scf.for %t = %c1 to %k step %c1 iter_args(%u = %x, %v = %y) -> (tensor<64x64xf32>, tensor<64x64xf32>) : i32 {
      scf.yield %v, %u : tensor<64x64xf32>, tensor<64x64xf32>
    }
    %a = tile.desc_load %d[%k, %i] : !tile.desc<64x64xf16> -> tensor<64x64xf16>
    %x1 = tile.dot %a, %a, %turned#0 : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %x1, %turned#1 : tensor<64x64xf32>, tensor<64x64xf32>
  }
  tile.print "" %sums#0, %sums#1 : tensor<64x64xf32>, tensor<64x64xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @outside
// CHECK-COUNT-1: cta.copy_registers
// CHECK-NOT: cta.copy_registers
// CHECK: tile.return
tile.kernel @outside(%i: i32, %d: !tile.desc<64x64xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %c1 = arith.constant 1 : i32
  %sums:2 = scf.for %t = %c1 to %i step %c1 iter_args(%x = %z, %y = %z) -> (tensor<64x64xf32>, tensor<64x64xf32>) : i32 {
    %sum = scf.for %k = %c1 to %i step %c1 iter_args(%u = %x) -> (tensor<64x64xf32>) : i32 {
      %a = tile.desc_load %d[%k, %i] : !tile.desc<64x64xf16> -> tensor<64x64xf16>
      %u1 = tile.dot %a, %a, %u : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
      scf.yield %u1 : tensor<64x64xf32>
    }
    scf.yield %y, %sum : tensor<64x64xf32>, tensor<64x64xf32>
  }
  tile.print "" %sums#0, %sums#1 : tensor<64x64xf32>, tensor<64x64xf32>
  tile.return
}
