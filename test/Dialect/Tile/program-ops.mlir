// RUN: tile-opt %s | tile-opt | FileCheck %s

// CHECK: tile.kernel @copy(%{{.*}}: !tile.ptr<f32> {tile.divisibility = 16 : i32, tile.name = "src"}) attributes {cluster_ctas = 1 : i32, num_stages = 3 : i32, num_warps = 4 : i32}
tile.kernel @copy(%src: !tile.ptr<f32> {tile.name = "src", tile.divisibility = 16 : i32})
    attributes {num_warps = 4 : i32, num_stages = 3 : i32} {
  tile.return
}

// CHECK: tile.kernel @all(%[[I:.*]]: i32, %[[J:.*]]: i32, %[[SI:.*]]: i32, %[[SJ:.*]]: i32, %[[SG:.*]]: i32, %[[C:.*]]: i1, %{{.*}}: !tile.desc<64x32xf16>)
// CHECK-SAME: constants = {BLOCK = 128 : i64}
// CHECK-SAME: launch = #tile.launch<grid = ["cdiv(n, BLOCK)"]>
// CHECK-SAME: shared_bytes = 1024 : i64
tile.kernel @all(%i: i32, %j: i32, %size_i: i32, %size_j: i32, %size_g: i32, %condition: i1, %desc: !tile.desc<64x32xf16>)
    attributes {num_warps = 8 : i32, shared_bytes = 1024 : i64, constants = {BLOCK = 128}, launch = #tile.launch<grid = ["cdiv(n, BLOCK)"]>} {
  // CHECK: tile.program_id 0
  %pid = tile.program_id 0
  // CHECK: tile.num_programs 0
  %n = tile.num_programs 0
  // CHECK: tile.swizzle2d %[[I]], %[[J]], %[[SI]], %[[SJ]], %[[SG]]
  %i2, %j2 = tile.swizzle2d %i, %j, %size_i, %size_j, %size_g
  // CHECK: tile.assume %[[C]]
  tile.assume %condition
  // CHECK: tile.assert %{{.*}}, "index in range" : tensor<128xi1>
  %ok = arith.constant dense<true> : tensor<128xi1>
  tile.assert %ok, "index in range" : tensor<128xi1>
  // CHECK: tile.print "x = " %{{.*}} : tensor<128xf32>
  %x = arith.constant dense<1.0> : tensor<128xf32>
  tile.print "x = " %x : tensor<128xf32>
  // CHECK: tile.print "n = " hex %{{.*}}, %{{.*}} : i32, tensor<128xf32>
  tile.print "n = " hex %n, %x : i32, tensor<128xf32>
  // CHECK: tile.print "here"
  tile.print "here"
  // CHECK: tile.return
  tile.return
}

// CHECK: tile.kernel @programs(%[[X:.*]]: i32, %[[Y:.*]]: i32, %[[Z:.*]]: i32)
tile.kernel @programs(%x: i32, %y: i32, %z: i32) {
  // CHECK: tile.programs (%[[I:.*]], %{{.*}}, %{{.*}}, %[[E:.*]]) in (%[[X]], %[[Y]], %[[Z]]) #tile.work<order = swizzle2d, group = 8> {
  // CHECK-NEXT: tile.print "" %[[I]], %[[E]] : i32, i1
  // CHECK-NEXT: }
  tile.programs (%i, %j, %k, %exists) in (%x, %y, %z) #tile.work<order = swizzle2d, group = 8> {
    tile.print "" %i, %exists : i32, i1
  }
  // CHECK: #tile.work<order = grid, cluster = [2, 1]> {
  tile.programs (%i, %j, %k, %exists) in (%x, %y, %z) #tile.work<order = grid, cluster = [2, 1]> {
  }
  // CHECK: tile.programs (%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) in {{.*}} #tile.work<order = grid, persistent = false, split_k = 2> {
  tile.programs (%i, %j, %k, %exists, %first) in (%x, %y, %z) #tile.work<order = grid, persistent = false, split_k = 2> {
  }
  // CHECK: tile.programs (%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) in {{.*}} steps (%[[X]]) #tile.work<order = transposed, tail = <sum = 7, piece = 9, fixed = 9>> {
  tile.programs (%i, %j, %k, %exists, %first, %end, %piece, %pieces) in (%x, %y, %z) steps (%x) #tile.work<order = transposed, tail = <sum = 7, piece = 9, fixed = 9>> {
  }
  tile.return
}
