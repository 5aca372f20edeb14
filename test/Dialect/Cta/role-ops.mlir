// RUN: tile-opt %s | tile-opt | FileCheck %s

tile.kernel @k() {
  %zero = arith.constant 0 : i32
  %full = cta.mbarrier_alloc arrivals 1 : !cta.mbarrier<4>
  // CHECK: cta.warp_roles consumer {
  // CHECK-NEXT: cta.mbarrier_wait
  // CHECK-NEXT: } producer {
  // CHECK-NEXT: cta.mbarrier_expect
  // CHECK-NEXT: } {consumer_registers = 240 : i32, producer_registers = 24 : i32}
  cta.warp_roles consumer {
    cta.mbarrier_wait %full[%zero], %zero : !cta.mbarrier<4>
  } producer {
    cta.mbarrier_expect %full[%zero], 0 : !cta.mbarrier<4>
  } {consumer_registers = 240 : i32, producer_registers = 24 : i32}
  tile.return
}

// CHECK: tile.kernel @teams
// CHECK-SAME: teams = 2 : i32
// CHECK: cta.team
tile.kernel @teams() attributes {producer_warps = 4 : i32, teams = 2 : i32} {
  cta.warp_roles consumer {
    %t = cta.team
    tile.print "team" %t : i32
  } producer {
  }
  tile.return
}

// CHECK: tile.kernel @turns
// CHECK: cta.turn_open of 2
// CHECK-NEXT: cta.turn_begin of 2
// CHECK-NEXT: cta.turn_end of 2
tile.kernel @turns() attributes {num_warps = 8 : i32, producer_warps = 4 : i32} {
  cta.warp_roles consumer {
    cta.turn_open of 2
    cta.turn_begin of 2
    cta.turn_end of 2
  } producer {
  }
  tile.return
}

// CHECK: tile.kernel @turns_of_teams
// CHECK: cta.turn_open of 2 teams
tile.kernel @turns_of_teams() attributes {producer_warps = 4 : i32, teams = 2 : i32} {
  cta.warp_roles consumer {
    cta.turn_open of 2 teams
  } producer {
  }
  tile.return
}
