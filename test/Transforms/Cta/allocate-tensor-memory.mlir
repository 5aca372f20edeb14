// RUN: tile-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(cta-attach-target{name=sm_100a},tile.kernel(cta-allocate-tensor-memory))' --mlir-print-local-scope | FileCheck %s

#s = #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
#x = #cta.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
!b = !cta.buffer<64x64xf16, #s>
!x = tensor<64x64xf32, #x>
!t = !cta.tensor_memory<64x64xf32>

// %v is live with both others, which follow each other and share columns: threads that have loaded %t synchronize
// before %u is stored. Unused memory is removed.
// CHECK-LABEL: tile.kernel @shared
// CHECK: %[[PLACE:.*]] = cta.alloc : <4xi32
// CHECK-NEXT: %[[BASE:.*]] = cta.tensor_memory_open 128 through %[[PLACE]]
// CHECK-DAG: %[[V:.*]] = cta.tensor_memory_alloc at %[[BASE]] + 64
// CHECK-DAG: cta.tensor_memory_alloc at %[[BASE]] + 0
// CHECK-DAG: cta.tensor_memory_alloc at %[[BASE]] + 0
// CHECK-NOT: cta.tensor_memory_alloc
// CHECK: cta.tensor_memory_load
// CHECK: cta.tensor_memory_fence before
// CHECK-NEXT: cta.barrier
// CHECK-NEXT: cta.tensor_memory_fence{{$}}
// CHECK-NEXT: cta.tensor_memory_store
// CHECK: cta.tensor_memory_load
// CHECK: cta.tensor_memory_close %[[BASE]], 128
// CHECK-NEXT: tile.return
tile.kernel @shared(%n: i32) attributes {num_warps = 4 : i32} {
  %t = cta.tensor_memory_alloc : !t
  %u = cta.tensor_memory_alloc : !t
  %v = cta.tensor_memory_alloc : !t
  %unused = cta.tensor_memory_alloc : !t
  %a = cta.alloc : !b
  %zero = arith.constant dense<0.0> : !x
  cta.tcgen05_mma %a, %a, %v {m = 64 : i32, n = 64 : i32} : !b, !b, !t
  cta.tensor_memory_store %zero, %t : !x, !t
  %x = cta.tensor_memory_load %t : !t -> !x
  cta.tensor_memory_store %x, %u : !x, !t
  %y = cta.tensor_memory_load %u : !t -> !x
  %z = cta.tensor_memory_load %v : !t -> !x
  tile.print "" %y : !x
  tile.print "" %z : !x
  tile.return
}

// -----

#wide = #cta.layout<[128, 512], register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128], [0, 256]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]]>
!w = tensor<128x512xf32, #wide>
!t = !cta.tensor_memory<128x512xf32>
// expected-error @below {{needs 1024 columns of tensor memory at the same time, but a multiprocessor has 512; use smaller blocks}}
tile.kernel @many(%n: i32) attributes {num_warps = 4 : i32} {
  %t = cta.tensor_memory_alloc : !t
  %u = cta.tensor_memory_alloc : !t
  %zero = arith.constant dense<0.0> : !w
  cta.tensor_memory_store %zero, %t : !w, !t
  cta.tensor_memory_store %zero, %u : !w, !t
  %x = cta.tensor_memory_load %t : !t -> !w
  %y = cta.tensor_memory_load %u : !t -> !w
  tile.print "" %x : !w
  tile.print "" %y : !w
  tile.return
}
