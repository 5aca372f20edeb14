// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-choose-engine,tile-host-descriptors,tile-expand-descriptors))' --mlir-print-op-on-diagnostic=false 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --input-file=%t.remarks --check-prefix=REMARK
// RUN: FileCheck %s --input-file=%t.remarks --check-prefix=ORDER
// RUN: tile-opt %s --pass-pipeline='builtin.module(cta-attach-target{name=sm_80},tile.kernel(tile-choose-engine,tile-host-descriptors))' 2>&1 | FileCheck %s --check-prefix=NO-TMA
// NO-TMA-NOT: tensor_map

// Two descriptors of one recipe share an argument; other sizes or blocks are other recipes.
// CHECK-LABEL: tile.kernel @recipes
// CHECK-SAME: %arg6: !tile.desc<64x16xf16> {tile.tensor_map = #tile.tensor_map<base = "a", shape = ["M", "K"], strides = ["lda"]>}
// CHECK-SAME: %arg7: !tile.desc<16x64xf16> {tile.tensor_map = #tile.tensor_map<base = "b", shape = ["min(K, 512)", "(M * 2) - 1"], strides = ["(M + 7) * 8"]>}
// CHECK-SAME: %arg8: !tile.desc<8x64xf16> {tile.tensor_map = #tile.tensor_map<base = "b", shape = ["5", "cdiv(9, 4)"], strides = ["N // 2"]>}
// CHECK-NOT: make_desc
// CHECK: tile.desc_load %arg6
// CHECK: tile.desc_load %arg7
// CHECK: tile.desc_store %arg6
// CHECK: tile.desc_load %arg8
tile.kernel @recipes(%a: !tile.ptr<f16> {tile.name = "a", tile.divisibility = 16 : i32},
                     %b: !tile.ptr<f16> {tile.name = "b", tile.divisibility = 16 : i32},
                     %m: i32 {tile.name = "M"}, %k: i32 {tile.name = "K", tile.divisibility = 8 : i32}, %n: i64 {tile.name = "N"},
                     %lda: i32 {tile.name = "lda", tile.divisibility = 8 : i32}) {
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %block = arith.constant dense<1.0> : tensor<64x16xf16>
  %wide = arith.constant dense<1.0> : tensor<8x64xf16>
  %c0 = arith.constant 0 : i32
  %one = arith.constant 1 : i64
  %ld = arith.extsi %lda : i32 to i64
  %rows = arith.maxsi %m, %c0 : i32
  %from = tile.make_desc %a, [%rows, %k], [%ld, %one] : !tile.ptr<f16> -> !tile.desc<64x16xf16>
  %x = tile.desc_load %from[%c0, %c0] : !tile.desc<64x16xf16> -> tensor<64x16xf16>
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c5 = arith.constant 5 : i32
  %c7 = arith.constant 7 : i32
  %c8 = arith.constant 8 : i32
  %c512 = arith.constant 512 : i32
  %least = arith.minsi %k, %c512 : i32
  %double = arith.muli %m, %c2 : i32
  %odd = arith.subi %double, %c1 : i32
  %more = arith.addi %m, %c7 : i32
  %stride = arith.muli %more, %c8 : i32
  %stride64 = arith.extsi %stride : i32 to i64
  %other = tile.make_desc %b, [%least, %odd], [%stride64, %one] : !tile.ptr<f16> -> !tile.desc<16x64xf16>
  %y = tile.desc_load %other[%c0, %c0] : !tile.desc<16x64xf16> -> tensor<16x64xf16>
  %z = tile.dot %x, %y, %zeros : tensor<64x16xf16>, tensor<16x64xf16> -> tensor<64x64xf32>
  tile.print "" %z : tensor<64x64xf32>
  %same = tile.make_desc %a, [%rows, %k], [%ld, %one] : !tile.ptr<f16> -> !tile.desc<64x16xf16>
  tile.desc_store %same[%c0, %c0], %block : !tile.desc<64x16xf16>, tensor<64x16xf16>
  %two = arith.constant 2 : i64
  %half = arith.floordivsi %n, %two : i64
  %four = arith.constant 4 : i32
  %n32 = arith.constant 9 : i32
  %quarter = arith.ceildivsi %n32, %four : i32
  %third = tile.make_desc %b, [%c5, %quarter], [%half, %one] : !tile.ptr<f16> -> !tile.desc<8x64xf16>
  %third_block = tile.desc_load %third[%c0, %c0] : !tile.desc<8x64xf16> -> tensor<8x64xf16>
  tile.print "" %third_block : tensor<8x64xf16>
  tile.return
}

// Descriptors that the launcher cannot compute, or could compute differently, are encoded by the kernel.
// CHECK-LABEL: tile.kernel @negative_kinds
// CHECK-NOT: tensor_map
// CHECK: tile.return
tile.kernel @negative_kinds(%a: !tile.ptr<f16> {tile.name = "a", tile.divisibility = 16 : i32},
                            %u: !tile.ptr<f16> {tile.name = "u", tile.divisibility = 2 : i32},
                            %m: i32 {tile.name = "M"}, %n: i64 {tile.name = "N"},
                            %v: i32 {tile.name = "V", tile.unsigned}) {
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %one = arith.constant 1 : i64
  %c0 = arith.constant 0 : i32
  %c2 = arith.constant 2 : i32
  %pid = tile.program_id 0
  %moved = tile.addptr %a, %pid : !tile.ptr<f16>, i32
  // REMARK: remark: descriptor gets no tensor map at launch: its base
  %d0 = tile.make_desc %moved, [%m, %m], [%n, %one] : !tile.ptr<f16> -> !tile.desc<64x64xf16>
  %x0 = tile.desc_load %d0[%c0, %c0] : !tile.desc<64x64xf16> -> tensor<64x64xf16>
  // REMARK: 'u' is not known to be aligned to 16 bytes
  %d1 = tile.make_desc %u, [%m, %m], [%n, %one] : !tile.ptr<f16> -> !tile.desc<64x64xf16>
  %x1 = tile.desc_load %d1[%c0, %c0] : !tile.desc<64x64xf16> -> tensor<64x64xf16>
  // Division of a negative number would round differently.
  // REMARK: the size of dimension 1 cannot be computed from integer parameters
  %half = arith.divsi %m, %c2 : i32
  %d2 = tile.make_desc %a, [%m, %half], [%n, %one] : !tile.ptr<f16> -> !tile.desc<64x64xf16>
  %x2 = tile.desc_load %d2[%c0, %c0] : !tile.desc<64x64xf16> -> tensor<64x64xf16>
  // REMARK: the size of dimension 0 cannot be computed from integer parameters
  %short = arith.trunci %n : i64 to i32
  %d3 = tile.make_desc %a, [%short, %m], [%n, %one] : !tile.ptr<f16> -> !tile.desc<64x64xf16>
  %x3 = tile.desc_load %d3[%c0, %c0] : !tile.desc<64x64xf16> -> tensor<64x64xf16>
  // REMARK: the size of dimension 0 cannot be computed from integer parameters
  %d4 = tile.make_desc %a, [%v, %m], [%n, %one] : !tile.ptr<f16> -> !tile.desc<64x64xf16>
  %x4 = tile.desc_load %d4[%c0, %c0] : !tile.desc<64x64xf16> -> tensor<64x64xf16>
  // REMARK: the stride of dimension 0 cannot be computed from integer parameters
  %pid64 = arith.extsi %pid : i32 to i64
  %d5 = tile.make_desc %a, [%m, %m], [%pid64, %one] : !tile.ptr<f16> -> !tile.desc<64x64xf16>
  %x5 = tile.desc_load %d5[%c0, %c0] : !tile.desc<64x64xf16> -> tensor<64x64xf16>
  // REMARK: its last stride is not the constant 1
  %d6 = tile.make_desc %a, [%m, %m], [%n, %n] : !tile.ptr<f16> -> !tile.desc<64x64xf16>
  %x6 = tile.desc_load %d6[%c0, %c0] : !tile.desc<64x64xf16> -> tensor<64x64xf16>
  // REMARK: its blocks have rank 3; TMA is used only for vectors and matrices
  %d7 = tile.make_desc %a, [%m, %m, %m], [%n, %n, %one] : !tile.ptr<f16> -> !tile.desc<2x32x64xf16>
  %cube = tile.desc_load %d7[%c0, %c0, %c0] : !tile.desc<2x32x64xf16> -> tensor<2x32x64xf16>
  %x7 = tile.reshape %cube : tensor<2x32x64xf16> -> tensor<64x64xf16>
  // REMARK: the last coordinate of a block is not known to be a multiple of 8 elements, as TMA requires; use tl.multiple_of if it is
  %d8 = tile.make_desc %a, [%m, %m], [%n, %one] : !tile.ptr<f16> -> !tile.desc<64x64xf16>
  %x8 = tile.desc_load %d8[%c0, %pid] : !tile.desc<64x64xf16> -> tensor<64x64xf16>
  // REMARK-NOT: remark: descriptor
  %y0 = tile.dot %x0, %x1, %zeros : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  %y1 = tile.dot %x2, %x3, %y0 : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  %y2 = tile.dot %x4, %x5, %y1 : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  %y3 = tile.dot %x6, %x7, %y2 : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  %y4 = tile.dot %x0, %x8, %y3 : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.print "" %y4 : tensor<64x64xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @negative_copy
// CHECK-NOT: tensor_map
// CHECK: tile.return
tile.kernel @negative_copy(%a: !tile.ptr<f16> {tile.name = "a", tile.divisibility = 16 : i32}, %m: i32 {tile.name = "M"},
                           %ld: i64 {tile.name = "ld"}) {
  %one = arith.constant 1 : i64
  %c0 = arith.constant 0 : i32
  %d = tile.make_desc %a, [%m, %m], [%ld, %one] : !tile.ptr<f16> -> !tile.desc<64x64xf16>
  %x = tile.desc_load %d[%c0, %c0] : !tile.desc<64x64xf16> -> tensor<64x64xf16>
  tile.desc_store %d[%c0, %m], %x : !tile.desc<64x64xf16>, tensor<64x64xf16>
  tile.return
}

// Warp groups have 64 rows each.
// CHECK-LABEL: tile.kernel @negative_small
// CHECK-NOT: tensor_map
// CHECK: tile.return
tile.kernel @negative_small(%a: !tile.ptr<f16> {tile.name = "a", tile.divisibility = 16 : i32},
                            %m: i32 {tile.name = "M"}, %ld: i64 {tile.name = "ld"}) {
  %zeros = arith.constant dense<0.0> : tensor<32x32xf32>
  %one = arith.constant 1 : i64
  %c0 = arith.constant 0 : i32
  %d = tile.make_desc %a, [%m, %m], [%ld, %one] : !tile.ptr<f16> -> !tile.desc<32x32xf16>
  %x = tile.desc_load %d[%c0, %c0] : !tile.desc<32x32xf16> -> tensor<32x32xf16>
  // ORDER: remark: dot {{.*}}TMA: wgmma does not support
  %y = tile.dot %x, %x, %zeros : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
  tile.print "" %y : tensor<32x32xf32>
  tile.return
}
