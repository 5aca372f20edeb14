// Tiles in shared memory: vectors where threads hold consecutive elements, ldmatrix and stmatrix for fragments.
// RUN: tile-opt %s --convert-cta-to-nvvm | FileCheck %s
// RUN: tile-opt %s --cta-attach-target=name=sm_80 --convert-cta-to-nvvm | FileCheck %s --check-prefix=SM80

#blocked = #cta.layout<[64, 64], register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>
#rows = #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
#columns = #cta.layout<[64, 64], offset = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0], [8, 1], [16, 2], [32, 4], [0, 8], [0, 16], [0, 32]]>
#a = #cta.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [16, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[32, 0], [0, 0]]>
#b = #cta.layout<[64, 64], register = [[1, 0], [8, 0], [16, 0], [32, 0], [0, 8], [0, 16]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 0], [0, 32]]>
#step = #cta.layout<[64, 16], register = [[0, 1], [8, 0], [0, 8], [16, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[32, 0], [0, 0]]>
#acc = #cta.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [16, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[32, 0], [0, 32]]>

#lanes = #cta.layout<[32], register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
#line = #cta.layout<[32], offset = [[1], [2], [4], [8], [16]]>

// CHECK-LABEL: llvm.func @operands
tile.kernel @operands(%p: !tile.ptr<f16>) attributes {num_warps = 4 : i32, shared_bytes = 24576 : i64} {
  %c1 = arith.constant 1 : i32
  %ps = tile.splat %p : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>, #blocked>
  %x = tile.load %ps : tensor<64x64x!tile.ptr<f16>, #blocked>
  // CHECK: llvm.mlir.addressof @tile_shared
  // CHECK: llvm.getelementptr nuw {{.*}}[1024]
  %buffer = cta.alloc at 1024 : !cta.buffer<64x64xf16, #rows, slots = 2>
  // CHECK: arith.constant 8192 : i32
  %tile = cta.slot %buffer[%c1] : !cta.buffer<64x64xf16, #rows, slots = 2> -> !cta.buffer<64x64xf16, #rows>
  // CHECK-COUNT-4: llvm.store {{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
  cta.local_store %x, %tile : tensor<64x64xf16, #blocked>, !cta.buffer<64x64xf16, #rows>
  // CHECK: nvvm.barrier
  cta.barrier
  // CHECK-COUNT-8: nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<row>, num = 4
  // CHECK-NOT: #nvvm.mma_layout<row>
  %a = cta.local_load %tile : !cta.buffer<64x64xf16, #rows> -> tensor<64x64xf16, #a>
  // CHECK-COUNT-8: nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<col>, num = 4
  // CHECK-NOT: nvvm.ldmatrix
  %b = cta.local_load %tile : !cta.buffer<64x64xf16, #rows> -> tensor<64x64xf16, #b>
  tile.return
}

// CHECK-LABEL: llvm.func @results
// SM80-LABEL: llvm.func @results
tile.kernel @results(%p: !tile.ptr<f16>) attributes {num_warps = 4 : i32, shared_bytes = 8192 : i64} {
  %x = arith.constant dense<1.0> : tensor<64x64xf16, #acc>
  %tile = cta.alloc at 0 : !cta.buffer<64x64xf16, #rows>
  // CHECK-COUNT-4: nvvm.stmatrix
  // SM80-COUNT-16: llvm.store {{.*}} {alignment = 4 : i64} : i32, !llvm.ptr<3>
  // SM80-NOT: nvvm.stmatrix
  cta.local_store %x, %tile : tensor<64x64xf16, #acc>, !cta.buffer<64x64xf16, #rows>
  // CHECK-COUNT-4: nvvm.stmatrix {{.*}}layout = #nvvm.mma_layout<col>
  %transposed = cta.alloc at 0 : !cta.buffer<64x64xf16, #columns>
  cta.local_store %x, %transposed : tensor<64x64xf16, #acc>, !cta.buffer<64x64xf16, #columns>
  tile.return
}

// The swizzle determines where the second half of the columns is: 16 columns are an XOR with 32 bytes; rows are added.
// CHECK-LABEL: llvm.func @part
tile.kernel @part() attributes {num_warps = 4 : i32, shared_bytes = 8192 : i64} {
  %tile = cta.alloc at 0 : !cta.buffer<64x64xf16, #rows>
  // CHECK: %[[C32:.*]] = arith.constant 32 : i32
  // CHECK: arith.xori %{{.*}}, %[[C32]] : i32
  // CHECK-COUNT-2: nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<row>, num = 4
  // CHECK-NOT: nvvm.ldmatrix
  %a = cta.local_load %tile at [0, 16] : !cta.buffer<64x64xf16, #rows> -> tensor<64x16xf16, #step>
  tile.return
}

// A single warp needs no barrier of the CTA.
// CHECK-LABEL: llvm.func @one_warp
tile.kernel @one_warp() attributes {num_warps = 1 : i32} {
  // CHECK: nvvm.bar.warp.sync
  cta.barrier
  tile.return
}

// Pointers in a buffer are 64-bit words, i1 values bytes.
// CHECK-LABEL: llvm.func @words
tile.kernel @words(%p: !tile.ptr<f32>, %m: i1) attributes {num_warps = 1 : i32, shared_bytes = 288 : i64} {
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>, #lanes>
  %a = cta.alloc at 0 : !cta.buffer<32x!tile.ptr<f32>, #line>
  // CHECK: %[[WORD:.*]] = llvm.ptrtoint
  // CHECK: llvm.store %[[WORD]], {{.*}} {alignment = 8 : i64} : i64, !llvm.ptr<3>
  cta.local_store %ps, %a : tensor<32x!tile.ptr<f32>, #lanes>, !cta.buffer<32x!tile.ptr<f32>, #line>
  // CHECK: llvm.inttoptr
  %q = cta.local_load %a : !cta.buffer<32x!tile.ptr<f32>, #line> -> tensor<32x!tile.ptr<f32>, #lanes>
  %ms = tile.splat %m : i1 -> tensor<32xi1, #lanes>
  %b = cta.alloc at 256 : !cta.buffer<32xi1, #line>
  // CHECK: arith.extui {{.*}} : i1 to i8
  cta.local_store %ms, %b : tensor<32xi1, #lanes>, !cta.buffer<32xi1, #line>
  // CHECK: arith.cmpi ne, {{.*}} : i8
  %n = cta.local_load %b : !cta.buffer<32xi1, #line> -> tensor<32xi1, #lanes>
  tile.return
}
