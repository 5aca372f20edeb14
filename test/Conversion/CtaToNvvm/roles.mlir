// Roles are branches on the number of the warp. All barriers are initialised before.
// RUN: tile-opt %s --convert-cta-to-nvvm | FileCheck %s

// The kernel has 8 warps and a warp group for the producer. One thread of it copies; the others end immediately.
// CHECK-LABEL: llvm.func @roles
// CHECK-SAME: nvvm.minctasm = 1 : i32
// CHECK-SAME: nvvm.reqntid = array<i32: 384>
// CHECK-COUNT-3: nvvm.mbarrier.init
// CHECK: nvvm.fence.mbarrier.init
// CHECK: nvvm.barrier
// CHECK: nvvm.shfl.sync idx
// CHECK: scf.if
// CHECK-NEXT: nvvm.setmaxregister increase 240
// CHECK: %[[ID:.*]] = arith.constant 1 : i32
// CHECK: %[[THREADS:.*]] = arith.constant 256 : i32
// CHECK: nvvm.barrier id = %[[ID]] number_of_threads = %[[THREADS]]
// CHECK: } else {
// CHECK-NEXT: nvvm.setmaxregister decrease 24
// CHECK: scf.if
// CHECK: %[[ONE:.*]] = nvvm.elect.sync
// CHECK: scf.if %[[ONE]]
// CHECK: nvvm.mbarrier.arrive.expect_tx
tile.kernel @roles() attributes {num_warps = 8 : i32, shared_bytes = 64 : i64} {
  %zero = arith.constant 0 : i32
  %full = cta.mbarrier_alloc arrivals 1 at 0 : !cta.mbarrier<2>
  %empty = cta.mbarrier_alloc arrivals 8 at 16 : !cta.mbarrier<1>
  cta.warp_roles role <consumer, warps = 8, registers = 240> {
    cta.barrier
  } role <producer, warps = 4, registers = 24, one_thread> {
    cta.mbarrier_expect %full[%zero], 4096 : !cta.mbarrier<2>
  }
  tile.return
}

// Without register counts, all threads keep their registers.
// CHECK-LABEL: llvm.func @same_registers
// CHECK-NOT: setmaxregister
// CHECK: llvm.return
tile.kernel @same_registers() {
  cta.warp_roles role <consumer, warps = 4> {
    cta.barrier
  } role <producer, warps = 4, one_thread> {
    cta.proxy_fence
  }
  tile.return
}

// Each warp group has a separate barrier, starting at number 2.
// CHECK-LABEL: llvm.func @groups
// CHECK: %[[WARP:.*]] = nvvm.shfl.sync idx
// CHECK: %[[GROUP:.*]] = arith.shrui %[[WARP]], %c2_i32
// CHECK: %[[ID:.*]] = arith.addi %[[GROUP]], %c2_i32
// CHECK: nvvm.barrier id = %[[ID]] number_of_threads = %c128_i32
tile.kernel @groups() attributes {num_warps = 8 : i32} {
  cta.barrier groups
  tile.return
}

// Two teams execute the consumer role: each has a barrier, a first thread and a number.
// CHECK-LABEL: llvm.func @teams
// CHECK-SAME: nvvm.reqntid = array<i32: 384>
// CHECK: arith.cmpi ult, %{{.*}}, %c8_i32
// CHECK: %[[WARP:.*]] = nvvm.shfl.sync idx
// CHECK: %[[TEAM:.*]] = arith.divui %[[WARP]], %c4_i32
// CHECK: nvvm.barrier id = %{{.*}} number_of_threads = %c128_i32
// CHECK: %[[INSIDE:.*]] = arith.andi %{{.*}}, %c127_i32
// CHECK: arith.cmpi eq, %[[INSIDE]]
tile.kernel @teams(%p: !tile.ptr<i32>) attributes {num_warps = 4 : i32} {
  cta.warp_roles role <consumer, warps = 4, teams = 2> {
    %team = cta.team
    cta.barrier
    %q = tile.addptr %p, %team : !tile.ptr<i32>, i32
    tile.store %q, %team : !tile.ptr<i32>
  } role <producer, warps = 4, one_thread> {
    cta.proxy_fence
  }
  tile.return
}

// A named barrier for each warp group: the group waits at its own, and arrives at that of the next.
// CHECK-LABEL: llvm.func @turns
// CHECK: %[[LAST:.*]] = arith.cmpi eq, %{{.*}}, %c1_i32
// CHECK: scf.if %[[LAST]]
// CHECK: llvm.call_intrinsic "llvm.nvvm.barrier.cta.arrive.aligned.count"(%c4_i32{{.*}}, %c256_i32
// CHECK: %[[GROUP:.*]] = arith.divui
// CHECK: %[[OWN:.*]] = arith.addi %[[GROUP]], %c4_i32{{.*}}
// CHECK: nvvm.barrier id = %[[OWN]] number_of_threads = %c256_i32{{.*}}
// CHECK: %[[NEXT:.*]] = arith.select %{{.*}}, %c4_i32{{.*}}, %{{.*}}
// CHECK: llvm.call_intrinsic "llvm.nvvm.barrier.cta.arrive.aligned.count"(%[[NEXT]], %c256_i32
tile.kernel @turns() attributes {num_warps = 8 : i32} {
  cta.warp_roles role <consumer, warps = 8> {
    cta.turn_open of 2
    cta.turn_begin of 2
    cta.turn_end of 2
  } role <producer, warps = 4, one_thread> {
    cta.proxy_fence
  }
  tile.return
}
