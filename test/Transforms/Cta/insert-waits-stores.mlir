// TMA stores are complete before a read of the same tensor, a barrier of the program, and an operation that others rely on.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-insert-waits))' --mlir-print-local-scope | FileCheck %s

#s = #cta.layout<[32, 32], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0]]>
#one = #cta.layout<[1], register = [], lane = [[0], [0], [0], [0], [0]], warp = [[0], [0]]>
!b = !cta.buffer<32x32xf16, #s>
!d = !tile.desc<32x32xf16>

// The first operation that needs the store waits for it, also on behalf of later operations.
// CHECK-LABEL: tile.kernel @behind
// CHECK: cta.tma_store
// CHECK-NEXT: tile.load %arg2
// CHECK-NEXT: tile.atomic_rmw add relaxed
// CHECK-NEXT: cta.tma_store_wait 0 written
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.load %arg1
// CHECK-NEXT: tile.atomic_rmw add acq_rel
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: cta.tma_store
// CHECK-NEXT: cta.tma_store_wait 0 written
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.return
tile.kernel @behind(%d: !d {tile.tensor_map = #tile.tensor_map<base = "x">}, %x: !tile.ptr<f16> {tile.name = "x"},
                    %y: !tile.ptr<f16> {tile.name = "y"}, %lock: !tile.ptr<i32> {tile.name = "lock"}, %i: i32) {
  %b = cta.alloc at 0 : !b
  %locks = tile.splat %lock : !tile.ptr<i32> -> tensor<1x!tile.ptr<i32>, #one>
  %one = arith.constant dense<1> : tensor<1xi32, #one>
  cta.tma_store %b, %d[%i, %i] : !b, !d
  %other = tile.load %y : !tile.ptr<f16>
  %count = tile.atomic_rmw add relaxed gpu %locks, %one : tensor<1x!tile.ptr<i32>, #one>
  %own = tile.load %x : !tile.ptr<f16>
  %before = tile.atomic_rmw add acq_rel gpu %locks, %one : tensor<1x!tile.ptr<i32>, #one>
  tile.barrier
  cta.tma_store %b, %d[%i, %i] : !b, !d
  tile.barrier
  tile.return
}

// Inline PTX without an address needs no order; with an address, it may access the tensor.
// CHECK-LABEL: tile.kernel @text
// CHECK: cta.tma_store
// CHECK-NEXT: tile.inline_asm "mov
// CHECK-NEXT: cta.tma_store_wait 0 written
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.inline_asm "red
tile.kernel @text(%d: !d {tile.tensor_map = #tile.tensor_map<base = "x">}, %i: i32, %address: i64) {
  %b = cta.alloc at 0 : !b
  cta.tma_store %b, %d[%i, %i] : !b, !d
  %zero = tile.inline_asm "mov.b32 $0, 0;", "=r" pack 1() : () -> i32
  %old = tile.inline_asm "red.release.gpu.global.add.u32 [$1], 1; mov.b32 $0, 0;", "=r,l" pack 1(%address) : (i64) -> i32
  tile.return
}

// A later iteration reads what an earlier one has written; the producer reads other tensors.
// CHECK-LABEL: tile.kernel @loop
// CHECK: role <consumer{{.*}}> {
// CHECK: scf.for
// CHECK-NEXT: cta.tma_store_wait 0 written
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.load
// CHECK-NEXT: cta.tma_store
// CHECK: } role <producer{{.*}}> {
// CHECK-NOT: wait
tile.kernel @loop(%d: !d {tile.tensor_map = #tile.tensor_map<base = "x">}, %x: !tile.ptr<f16> {tile.name = "x"}, %n: i32)
    {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %b = cta.alloc at 0 : !b
  cta.warp_roles role <consumer, warps = 4> {
    scf.for %i = %c0 to %n step %c1 : i32 {
      %own = tile.load %x : !tile.ptr<f16>
      cta.tma_store %b, %d[%i, %c0] : !b, !d
    }
  } role <producer, warps = 4, one_thread> {
    %bound = tile.load %x : !tile.ptr<f16>
  }
  tile.return
}

// CHECK-LABEL: tile.kernel @branches
// CHECK-NOT: written
tile.kernel @branches(%d: !d {tile.tensor_map = #tile.tensor_map<base = "x">}, %x: !tile.ptr<f16> {tile.name = "x"}, %c: i1, %i: i32) {
  %b = cta.alloc at 0 : !b
  scf.if %c {
    cta.tma_store %b, %d[%i, %i] : !b, !d
  } else {
    %own = tile.load %x : !tile.ptr<f16>
  }
  cta.tma_store_wait 0
  tile.return
}

// Other programs write other elements: two stores of one program are ordered, those of different programs are not. A
// program may read what another one writes.
// CHECK-LABEL: tile.kernel @programs
// CHECK: tile.programs
// CHECK-NEXT: tile.load
// CHECK-NEXT: cta.tma_store
// CHECK-NEXT: }
// CHECK: tile.programs
// CHECK-NEXT: cta.tma_store %
// CHECK-NEXT: cta.tma_store_wait 0 written
// CHECK-NEXT: cta.tma_store %
// CHECK-NEXT: }
// CHECK: tile.programs
// CHECK-NEXT: cta.tma_store_wait 0 written
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.load
tile.kernel @programs(%d: !d {tile.tensor_map = #tile.tensor_map<base = "x">}, %x: !tile.ptr<f16> {tile.name = "x"}, %e: !d {tile.tensor_map = #tile.tensor_map<base = "y">},
                      %n: i32) {
  %b = cta.alloc at 0 : !b
  tile.programs (%i, %j, %k, %exists) in (%n, %n, %n) #tile.work<order = grid> {
    %other = tile.load %x : !tile.ptr<f16>
    cta.tma_store %b, %e[%i, %j] : !b, !d
  }
  tile.programs (%i, %j, %k, %exists) in (%n, %n, %n) #tile.work<order = grid> {
    cta.tma_store %b, %e[%i, %j] : !b, !d
    cta.tma_store %b, %e[%j, %i] : !b, !d
  }
  tile.programs (%i, %j, %k, %exists) in (%n, %n, %n) #tile.work<order = grid> {
    %own = tile.load %x : !tile.ptr<f16>
    cta.tma_store %b, %d[%i, %j] : !b, !d
  }
  tile.return
}
