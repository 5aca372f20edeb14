// RUN: tile-opt %s | tile-opt | FileCheck %s

#x = #cta.layout<[128, 128], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64], [64, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>

// CHECK: tile.kernel @k(%[[P:.*]]: !tile.ptr<i32>)
tile.kernel @k(%p: !tile.ptr<i32>) {
  %x = arith.constant dense<1.0> : tensor<128x128xf32, #x>
  // CHECK: cta.partial_store %[[X:.*]], %[[P]] : tensor<128x128xf32, #{{.*}}>, <i32>
  cta.partial_store %x, %p : tensor<128x128xf32, #x>, !tile.ptr<i32>
  // CHECK: cta.flag_set %[[P]] : <i32>
  cta.flag_set %p : !tile.ptr<i32>
  // CHECK: cta.flag_wait %[[P]] : <i32>
  cta.flag_wait %p : !tile.ptr<i32>
  // CHECK: %[[S:.*]] = cta.partial_add %[[X]], %[[P]] : tensor<128x128xf32, #{{.*}}>, <i32>
  %s = cta.partial_add %x, %p : tensor<128x128xf32, #x>, !tile.ptr<i32>
  tile.print "" %s : tensor<128x128xf32, #x>
  tile.return
}

// CHECK: tile.kernel @combine
tile.kernel @combine(%n: i32) {
  %x = arith.constant dense<1.0> : tensor<128x128xf32, #x>
  tile.programs (%i, %j, %k, %exists, %first) in (%n, %n, %n) #tile.work<order = grid, split_k = 2> {
    // CHECK: cta.combine %{{.*}} {columns = 96 : i32} : tensor<128x128xf32, #{{.*}}>
    %sum = cta.combine %x {columns = 96 : i32} : tensor<128x128xf32, #x>
  }
  tile.return
}
