// RUN: tile-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tile.kernel(tile-verify-phase{phase=layout}))'

#x = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>
#row = #cta.layout<[1, 64], register = [], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[0, 32], [0, 0]]>
#full = #cta.layout<[2, 64], register = [[1, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[0, 32], [0, 0]]>
#turned = #cta.layout<[64, 2], register = [[0, 1]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [0, 0]]>

tile.kernel @good(%d: !tile.desc<64xi32>, %n: i32) {
  %r = tile.arange 0 to 64 : tensor<64xi32, #x>
  %e = tile.expand_dims %r {axis = 0 : i32} : tensor<64xi32, #x> -> tensor<1x64xi32, #row>
  %b = tile.broadcast %e : tensor<1x64xi32, #row> -> tensor<2x64xi32, #full>
  %t = tile.trans %b {order = array<i32: 1, 0>} : tensor<2x64xi32, #full> -> tensor<64x2xi32, #turned>
  %s = tile.reduce %t {axis = 1 : i32} : tensor<64x2xi32, #turned> -> tensor<64xi32, #x> {
  ^bb0(%p: i32, %q: i32):
    %c = arith.addi %p, %q : i32
    tile.yield %c : i32
  }
  // A descriptor that the launcher creates.
  %l = tile.desc_load %d[%n] : !tile.desc<64xi32> -> tensor<64xi32, #x>
  %y = arith.extsi %s : tensor<64xi32, #x> to tensor<64xi64, #x>
  tile.return
}

// -----

tile.kernel @missing() {
  // expected-error @below {{phase layout: tensor 'tensor<64xi32>' has no layout}}
  %r = tile.arange 0 to 64 : tensor<64xi32>
  tile.return
}

// -----

#x = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32]]>

tile.kernel @warps() {
  // expected-error @below {{is for 2 warps but the kernel has 4}}
  %r = tile.arange 0 to 64 : tensor<64xi32, #x>
  tile.return
}

// -----

#x = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>
#y = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [32]], warp = [[16], [0]]>

tile.kernel @address_cast(%p: !tile.ptr<f32>) {
  %s = tile.splat %p : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #y>
  // expected-error @below {{phase layout: 'tile.address_cast' is elementwise but has layouts}}
  %q = tile.address_cast %s : tensor<64x!tile.ptr<f32>, #y> -> tensor<64xi64, #x>
  tile.return
}

// -----

#x = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>
#y = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [32]], warp = [[16], [0]]>

tile.kernel @elementwise(%p: !tile.ptr<f32>) {
  %r = tile.arange 0 to 64 : tensor<64xi32, #x>
  %s = tile.splat %p : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #y>
  // expected-error @below {{phase layout: 'tile.addptr' is elementwise but has layouts}}
  %q = tile.addptr %s, %r : tensor<64x!tile.ptr<f32>, #y>, tensor<64xi32, #x>
  tile.return
}

// -----

#x = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>
#row = #cta.layout<[1, 64], register = [], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 32]], warp = [[0, 16], [0, 0]]>

tile.kernel @shape() {
  %r = tile.arange 0 to 64 : tensor<64xi32, #x>
  // expected-error @below {{phase layout: 'tile.expand_dims' moves elements between threads: from}}
  %e = tile.expand_dims %r {axis = 0 : i32} : tensor<64xi32, #x> -> tensor<1x64xi32, #row>
  tile.return
}

// -----

tile.kernel @descriptor(%p: !tile.ptr<f32>, %n: i32, %one: i64) {
  // expected-error @below {{phase layout: 'tile.make_desc' does not belong to this phase}}
  %d = tile.make_desc %p, [%n], [%one] : !tile.ptr<f32> -> !tile.desc<16xf32>
  tile.return
}

// -----

#x = #cta.layout<[64], register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[0], [0]]>

tile.kernel @vector(%q: !tile.ptr<f32>) {
  %p = tile.splat %q : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #x>
  %v = tile.load %p {vector = 2 : i32} : tensor<64x!tile.ptr<f32>, #x>
  // expected-error @below {{phase layout: accesses 4 consecutive elements but a thread holds 2 of}}
  tile.store %p, %v {vector = 4 : i32} : tensor<64x!tile.ptr<f32>, #x>
  tile.return
}

// -----

#x = #cta.layout<[64], register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[0], [0]]>

tile.kernel @atomic_vector(%q: !tile.ptr<f32>) {
  %p = tile.splat %q : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #x>
  %v = arith.constant dense<1.0> : tensor<64xf32, #x>
  // expected-error @below {{phase layout: accesses 4 consecutive elements but a thread holds 2 of}}
  %old = tile.atomic_rmw add relaxed gpu %p, %v {vector = 4 : i32} : tensor<64x!tile.ptr<f32>, #x>
  tile.return
}

// -----

tile.kernel @scalar_vector(%p: !tile.ptr<f32>) {
  // expected-error @below {{phase layout: accesses 2 consecutive elements but a thread holds 1 of '!tile.ptr<f32>'}}
  %x = tile.load %p {vector = 2 : i32} : !tile.ptr<f32>
  tile.return
}
