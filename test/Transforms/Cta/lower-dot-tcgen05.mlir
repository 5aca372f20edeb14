// RUN: tile-opt %s --pass-pipeline='builtin.module(cta-attach-target{name=sm_100a},tile.kernel(tile-settle-engine,cta-assign-layouts,cta-lower-descriptors,cta-lower-dot))' --mlir-print-local-scope 2> %t.txt | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.txt
!a = !tile.desc<128x64xf16>
!b = !tile.desc<64x160xf16>

// An accumulator passes through tensor memory, unless it is zero. Only the 160 columns of a right operand are moved.
// CHECK-LABEL: tile.kernel @dots
// CHECK-DAG: %[[FIRST:.*]] = cta.tensor_memory_alloc : <128x256xf32>
// CHECK-DAG: %[[SECOND:.*]] = cta.tensor_memory_alloc : <128x256xf32>
// CHECK-NOT: cta.tensor_memory_store
// CHECK: cta.tcgen05_mma %{{.*}}, %{{.*}}, %[[M:.*]] if %false {m = 128 : i32, n = 160 : i32}
// CHECK: cta.tcgen05_commit %[[D:.*]][%
// CHECK-NEXT: cta.tcgen05_await %[[D]]
// CHECK-NEXT: %[[X:.*]] = cta.tensor_memory_load %[[M]] {columns = 160 : i32}
// CHECK: cta.tensor_memory_store %[[X]], %[[N:.*]] {columns = 160 : i32}
// CHECK: cta.tcgen05_mma %{{.*}}, %{{.*}}, %[[N]] {m = 128 : i32, n = 160 : i32}
// CHECK: cta.tensor_memory_load %[[N]] {columns = 160 : i32}
// REMARK: dot uses tcgen05 m128n160k16; a is copied by TMA, b copied by TMA
tile.kernel @dots(%d: !a {tile.tensor_map = #tile.tensor_map<base = "a">}, %e: !b {tile.tensor_map = #tile.tensor_map<base = "b">}) attributes {num_warps = 4 : i32} {
  %0 = arith.constant 0 : i32
  %a = tile.desc_load %d[%0, %0] : !a -> tensor<128x64xf16>
  %b = tile.desc_load %e[%0, %0] : !b -> tensor<64x256xf16>
  %c = arith.constant dense<0.0> : tensor<128x256xf32>
  %x = tile.dot %a, %b, %c : tensor<128x64xf16>, tensor<64x256xf16> -> tensor<128x256xf32>
  %y = tile.dot %a, %b, %x : tensor<128x64xf16>, tensor<64x256xf16> -> tensor<128x256xf32>
  tile.print "" %y : tensor<128x256xf32>
  tile.return
}

// A left operand that is computed from another dot is stored to tensor memory, in the layout of that dot's accumulator.
// CHECK-LABEL: tile.kernel @chain
// CHECK: %[[P:.*]] = cta.tensor_memory_alloc : <128x64xf16>
// CHECK: %[[X:.*]] = cta.tensor_memory_load
// CHECK-NEXT: %[[H:.*]] = arith.truncf %[[X]]
// CHECK: cta.tensor_memory_store %[[H]], %[[P]]
// CHECK: cta.tcgen05_mma %[[P]], %{{.*}}, %{{.*}} if %{{.*}} {m = 128 : i32, n = 64 : i32} : !cta.tensor_memory<128x64xf16>, <64x64xf16,
// REMARK: dot uses tcgen05 m128n64k16; a is stored to tensor memory, b copied by TMA
!q = !tile.desc<64x64xf16>
tile.kernel @chain(%d: !a {tile.tensor_map = #tile.tensor_map<base = "a">}, %e: !q {tile.tensor_map = #tile.tensor_map<base = "b">}) attributes {num_warps = 4 : i32} {
  %0 = arith.constant 0 : i32
  %a = tile.desc_load %d[%0, %0] : !a -> tensor<128x64xf16>
  %b = tile.desc_load %e[%0, %0] : !q -> tensor<64x64xf16>
  %c = arith.constant dense<0.0> : tensor<128x64xf32>
  %x = tile.dot %a, %b, %c : tensor<128x64xf16>, tensor<64x64xf16> -> tensor<128x64xf32>
  %h = arith.truncf %x : tensor<128x64xf32> to tensor<128x64xf16>
  %y = tile.dot %h, %b, %c : tensor<128x64xf16>, tensor<64x64xf16> -> tensor<128x64xf32>
  tile.print "" %y : tensor<128x64xf32>
  tile.return
}
