// RUN: tile-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tile.kernel(tile-verify-phase{phase=tile}))'

tile.kernel @good(%p: !tile.ptr<f32>) {
  %r = tile.arange 0 to 64 : tensor<64xi32>
  %s = tile.splat %p : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %q = tile.addptr %s, %r : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %x = tile.load %q : tensor<64x!tile.ptr<f32>>
  %y = math.exp %x : tensor<64xf32>
  tile.store %q, %y : tensor<64x!tile.ptr<f32>>
  tile.return
}

// -----

#x = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>

tile.kernel @layout() {
  // expected-error @below {{phase tile: tensor 'tensor<64xi32, #cta.layout<}}
  %r = tile.arange 0 to 64 : tensor<64xi32, #x>
  tile.return
}

// -----

tile.kernel @foreign(%c: i1) {
  // expected-error @below {{phase tile: 'cf.assert' does not belong to this phase}}
  cf.assert %c, ""
  tile.return
}

// -----

tile.kernel @cta() {
  // expected-error @below {{phase tile: 'cta.barrier' does not belong to this phase}}
  cta.barrier
  tile.return
}

// -----

tile.kernel @attribute() {
  // expected-error @below {{phase tile: attribute 'my.plan' is not declared by 'arith.constant'; only declared attributes may carry information between passes}}
  %0 = arith.constant {my.plan = 1 : i32} 0 : i32
  tile.return
}

// -----

tile.kernel @size() {
  // expected-error @below {{phase tile: tensor 'tensor<48xi32>' has a size that is not a power of two}}
  %r = tile.arange 0 to 48 : tensor<48xi32>
  tile.return
}

// -----

tile.kernel @no_engine() {
  %x = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-error @below {{phase tile: the dot has no engine; run tile-choose-engine first}}
  %d = tile.dot %x, %x, %x : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  tile.return
}

// -----

tile.kernel @warps() attributes {num_warps = 8 : i32} {
  %x = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-error @below {{phase tile: the dot's engine is for 4 warps but the kernel has 8}}
  %d = tile.dot %x, %x, %x {engine = #cta.mma_sync<m16n8k8, f32, f32, f32, warps = [2, 2]>} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  tile.return
}
