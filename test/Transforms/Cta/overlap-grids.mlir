// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-overlap-grids))' | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(cta-attach-target{name=sm_80},tile.kernel(cta-overlap-grids))' | FileCheck %s --check-prefix=SM80
// SM80-NOT: await_grids

// Both roles wait for the previous grid; the last copies let the next grid begin.
// CHECK-LABEL: tile.kernel @roles
// CHECK: cta.warp_roles role <consumer{{.*}}> {
// CHECK-NEXT: cta.await_grids
// CHECK-NEXT: cta.mbarrier_wait
// CHECK: } role <producer{{.*}}> {
// CHECK-NEXT: cta.await_grids
// CHECK-NEXT: cta.mbarrier_expect
// CHECK-NEXT: cta.launch_dependents
// CHECK-NEXT: }
tile.kernel @roles(%zero: i32) {
  %full = cta.mbarrier_alloc arrivals 1 : !cta.mbarrier<1>
  cta.warp_roles role <consumer, warps = 4> {
    cta.mbarrier_wait %full[%zero], %zero : !cta.mbarrier<1>
  } role <producer, warps = 4, one_thread> {
    cta.mbarrier_expect %full[%zero], 0 : !cta.mbarrier<1>
  }
  tile.return
}

// Scalars may be computed while the previous grid still runs.
// CHECK-LABEL: tile.kernel @numbers
// CHECK: arith.muli
// CHECK-NEXT: cta.warp_roles role <consumer{{.*}}> {
// CHECK-NEXT: cta.await_grids
tile.kernel @numbers(%n: i32) {
  %square = arith.muli %n, %n : i32
  cta.warp_roles role <consumer, warps = 4> {
    tile.print "" %square : i32
  } role <producer, warps = 4, one_thread> {
  }
  tile.return
}

// Data is read before the roles.
// CHECK-LABEL: tile.kernel @negative_outside
// CHECK-NOT: await_grids
// CHECK: tile.return
tile.kernel @negative_outside(%p: !tile.ptr<i32>) {
  %i = tile.load %p : !tile.ptr<i32>
  cta.warp_roles role <consumer, warps = 4> {
    tile.print "" %i : i32
  } role <producer, warps = 4, one_thread> {
  }
  tile.return
}
