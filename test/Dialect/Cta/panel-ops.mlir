// RUN: tile-opt %s --split-input-file --verify-diagnostics | FileCheck %s
// Tensors that pass through shared memory in panels.

// CHECK: #[[S:layout[0-9]*]] = #cta.layout<[64, 32], offset
#x = #cta.layout<[64, 32], register = [[0, 1], [0, 2], [0, 4], [32, 0]], lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = [[8, 0], [16, 0]]>
#s = #cta.layout<[64, 32], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0]]>
#p = #cta.layout<[1024], offset = [[1], [2], [4], [8], [16], [32], [64], [128], [256], [512]]>
!b = !cta.buffer<1024xf16, #p>

// CHECK-LABEL: tile.kernel @panels
tile.kernel @panels() {
  %v = arith.constant dense<0.0> : tensor<64x32xf16, #x>
  %b = cta.alloc : !b
  // CHECK: cta.panel_store %{{.*}}, %[[B:.*]] {layout = #[[S]], panel = 0 : i32} : tensor<64x32xf16
  cta.panel_store %v, %b {layout = #s, panel = 0 : i32} : tensor<64x32xf16, #x>, !b
  // CHECK: %[[Y:.*]] = cta.panel_load %[[B]] {layout = #[[S]], panel = 0 : i32}
  %y = cta.panel_load %b {layout = #s, panel = 0 : i32} : !b -> tensor<64x32xf16, #x>
  // CHECK: cta.panel_load %[[B]] or %[[Y]] : tensor<64x32xf16, #{{.*}}> {layout = #[[S]], panel = 1 : i32}
  %z = cta.panel_load %b or %y : tensor<64x32xf16, #x> {layout = #s, panel = 1 : i32} : !b -> tensor<64x32xf16, #x>
  %i = arith.constant dense<0> : tensor<64x32xi32, #x>
  // CHECK: cta.panel_gather %[[B]][%{{.*}}] or %[[Y]] : {{.*}} {axis = 1 : i32, panel = 1 : i32, shape = array<i64: 64, 32>}
  %g = cta.panel_gather %b[%i] or %y : tensor<64x32xf16, #x> {axis = 1 : i32, panel = 1 : i32, shape = array<i64: 64, 32>} : !b, tensor<64x32xi32, #x> -> tensor<64x32xf16, #x>
  tile.return
}

// -----

#x = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>
#s = #cta.layout<[64], offset = [[1], [2], [4], [8], [16], [32]]>
#p = #cta.layout<[32], offset = [[1], [2], [4], [8], [16]]>

tile.kernel @number() {
  %v = arith.constant dense<0.0> : tensor<64xf32, #x>
  %b = cta.alloc : !cta.buffer<32xf32, #p>
  // expected-error @below {{'cta.panel_store' op panel index is 2, but the tensor has 2 panels of 32 elements}}
  cta.panel_store %v, %b {layout = #s, panel = 2 : i32} : tensor<64xf32, #x>, !cta.buffer<32xf32, #p>
  tile.return
}

// -----

#x = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>
#s = #cta.layout<[64], offset = [[1], [2], [4], [8], [16], [32]]>
#p = #cta.layout<[32], offset = [[1], [2], [4], [8], [16]]>

tile.kernel @element() {
  %b = cta.alloc : !cta.buffer<32xf32, #p>
  // expected-error @below {{'cta.panel_load' op tensor is 'tensor<64xf16, }}
  %y = cta.panel_load %b {layout = #s, panel = 1 : i32} : !cta.buffer<32xf32, #p> -> tensor<64xf16, #x>
  tile.return
}

// -----

#x = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>
#p = #cta.layout<[32], offset = [[1], [2], [4], [8], [16]]>

tile.kernel @offsets() {
  %b = cta.alloc : !cta.buffer<32xf32, #p>
  // expected-error @below {{'cta.panel_load' op layout is not a buffer layout}}
  %y = cta.panel_load %b {layout = #x, panel = 1 : i32} : !cta.buffer<32xf32, #p> -> tensor<64xf32, #x>
  tile.return
}

// -----

#x = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>
#s = #cta.layout<[64], offset = [[1], [2], [4], [8], [16], [32]]>
#p = #cta.layout<[32], offset = [[1], [2], [4], [8], [16]]>

tile.kernel @slots() {
  %b = cta.alloc : !cta.buffer<32xf32, #p, slots = 2>
  // expected-error @below {{'cta.panel_load' op buffer has 2 slots; choose one with cta.slot}}
  %y = cta.panel_load %b {layout = #s, panel = 1 : i32} : !cta.buffer<32xf32, #p, slots = 2> -> tensor<64xf32, #x>
  tile.return
}

// -----

#x = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>
#s = #cta.layout<[64], offset = [[1], [2], [4], [8], [16], [32]]>
#p = #cta.layout<[32], offset = [[1], [2], [4], [8], [16]]>

tile.kernel @others() {
  %v = arith.constant dense<0.0> : tensor<64xf16, #x>
  %b = cta.alloc : !cta.buffer<32xf32, #p>
  // expected-error @below {{'cta.panel_load' op others are 'tensor<64xf16, }}
  %y = cta.panel_load %b or %v : tensor<64xf16, #x> {layout = #s, panel = 1 : i32} : !cta.buffer<32xf32, #p> -> tensor<64xf32, #x>
  tile.return
}

// -----

#x = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>
#p = #cta.layout<[32], offset = [[1], [2], [4], [8], [16]]>

tile.kernel @axis() {
  %i = arith.constant dense<0> : tensor<64xi32, #x>
  %b = cta.alloc : !cta.buffer<32xf32, #p>
  // expected-error @below {{'cta.panel_gather' op axis is 1 but must be from 0 to 0}}
  %y = cta.panel_gather %b[%i] {axis = 1 : i32, panel = 0 : i32, shape = array<i64: 64>} : !cta.buffer<32xf32, #p>, tensor<64xi32, #x> -> tensor<64xf32, #x>
  tile.return
}

// -----

#x = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>
#p = #cta.layout<[32], offset = [[1], [2], [4], [8], [16]]>

tile.kernel @indices() {
  %i = arith.constant dense<0> : tensor<64xi32, #x>
  %b = cta.alloc : !cta.buffer<32xf32, #p>
  // expected-error @below {{'cta.panel_gather' op indices have shape [64] but the tensor has [32, 2]; only axis 0 may differ}}
  %y = cta.panel_gather %b[%i] {axis = 0 : i32, panel = 0 : i32, shape = array<i64: 32, 2>} : !cta.buffer<32xf32, #p>, tensor<64xi32, #x> -> tensor<64xf32, #x>
  tile.return
}

// -----

#x = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>
#p = #cta.layout<[32], offset = [[1], [2], [4], [8], [16]]>

tile.kernel @result() {
  %i = arith.constant dense<0> : tensor<64xi32, #x>
  %b = cta.alloc : !cta.buffer<32xf32, #p>
  // expected-error @below {{'cta.panel_gather' op result is 'tensor<64xf16, }}
  %y = cta.panel_gather %b[%i] {axis = 0 : i32, panel = 0 : i32, shape = array<i64: 64>} : !cta.buffer<32xf32, #p>, tensor<64xi32, #x> -> tensor<64xf16, #x>
  tile.return
}
