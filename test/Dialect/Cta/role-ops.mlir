// RUN: tile-opt %s | tile-opt | FileCheck %s

tile.kernel @k() {
  %zero = arith.constant 0 : i32
  %full = cta.mbarrier_alloc arrivals 1 : !cta.mbarrier<4>
  // CHECK: cta.warp_roles role <consumer, warps = 4, teams = 2, registers = 232> {
  // CHECK-NEXT: cta.mbarrier_wait
  // CHECK-NEXT: } role <producer, warps = 4, registers = 40, one_thread> {
  // CHECK-NEXT: cta.mbarrier_expect
  // CHECK-NEXT: }{{$}}
  cta.warp_roles role <consumer, warps = 4, teams = 2, registers = 232> {
    cta.mbarrier_wait %full[%zero], %zero : !cta.mbarrier<4>
  } role <producer, warps = 4, one_thread, registers = 40> {
    cta.mbarrier_expect %full[%zero], 0 : !cta.mbarrier<4>
  }
  tile.return
}

// CHECK: tile.kernel @three
// CHECK: role <load, warps = 1, one_thread> {
// CHECK-NEXT: } role <multiply, warps = 1> {
// CHECK-NEXT: cta.barrier
// CHECK-NEXT: } role <store, warps = 2> {
tile.kernel @three() {
  cta.warp_roles role <load, warps = 1, one_thread> {
  } role <multiply, warps = 1> {
    cta.barrier
  } role <store, warps = 2> {
  }
  tile.return
}

// CHECK: tile.kernel @teams
// CHECK: cta.team
tile.kernel @teams() {
  cta.warp_roles role <consumer, warps = 4, teams = 2> {
    %t = cta.team
    tile.print "team" %t : i32
  } role <producer, warps = 4, one_thread> {
  }
  tile.return
}

// CHECK: tile.kernel @turns
// CHECK: cta.turn_open of 2
// CHECK-NEXT: cta.turn_begin of 2
// CHECK-NEXT: cta.turn_end of 2
tile.kernel @turns() attributes {num_warps = 8 : i32} {
  cta.warp_roles role <consumer, warps = 8> {
    cta.turn_open of 2
    cta.turn_begin of 2
    cta.turn_end of 2
  } role <producer, warps = 4, one_thread> {
  }
  tile.return
}

// CHECK: tile.kernel @turns_of_teams
// CHECK: cta.turn_open of 2 teams
tile.kernel @turns_of_teams() {
  cta.warp_roles role <consumer, warps = 4, teams = 2> {
    cta.turn_open of 2 teams
  } role <producer, warps = 4, one_thread> {
  }
  tile.return
}
