// Blocks whose sizes are not powers of two: they are passed if nothing has to be padded.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-choose-engine,tile-host-descriptors))' --mlir-print-op-on-diagnostic=false 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --input-file=%t.remarks --check-prefix=REMARK

// The right operand of a dot, and a store that does not limit the columns.
// CHECK-LABEL: tile.kernel @dot
// CHECK-SAME: !tile.desc<64x64xf16> {tile.tensor_map
// CHECK-SAME: !tile.desc<64x160xf16> {tile.tensor_map
// CHECK-SAME: !tile.desc<64x160xf32> {tile.tensor_map
// CHECK-NOT: make_desc
// REMARK-NOT: remark
tile.kernel @dot(%a: !tile.ptr<f16> {tile.name = "a", tile.divisibility = 16 : i32}, %b: !tile.ptr<f16> {tile.name = "b", tile.divisibility = 16 : i32},
                     %c: !tile.ptr<f32> {tile.name = "c", tile.divisibility = 16 : i32}, %n: i32 {tile.name = "n", tile.divisibility = 8 : i32}) {
  %zeros = arith.constant dense<0.0> : tensor<64x160xf32>
  %one = arith.constant 1 : i64
  %i = arith.constant 0 : i32
  %ld = arith.extsi %n : i32 to i64
  %da = tile.make_desc %a, [%n, %n], [%ld, %one] : !tile.ptr<f16> -> !tile.desc<64x64xf16>
  %db = tile.make_desc %b, [%n, %n], [%ld, %one] : !tile.ptr<f16> -> !tile.desc<64x160xf16>
  %dc = tile.make_desc %c, [%n, %n], [%ld, %one] : !tile.ptr<f32> -> !tile.desc<64x160xf32>
  %x = tile.desc_load %da[%i, %i] : !tile.desc<64x64xf16> -> tensor<64x64xf16>
  %y = tile.desc_load %db[%i, %i] : !tile.desc<64x160xf16> -> tensor<64x160xf16>
  %z = tile.dot %x, %y, %zeros : tensor<64x64xf16>, tensor<64x160xf16> -> tensor<64x160xf32>
  tile.desc_store %dc[%i, %i], %z : !tile.desc<64x160xf32>, tensor<64x160xf32>
  tile.return
}

// Or does not limit the rows.
// CHECK-LABEL: tile.kernel @rows
// CHECK-SAME: !tile.desc<144x64xf32> {tile.tensor_map
// CHECK-NOT: make_desc
tile.kernel @rows(%a: !tile.ptr<f16> {tile.name = "a", tile.divisibility = 16 : i32}, %c: !tile.ptr<f32> {tile.name = "c", tile.divisibility = 16 : i32},
                  %n: i32 {tile.name = "n", tile.divisibility = 8 : i32}) {
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %other = arith.constant dense<0.0> : tensor<144x64xf32>
  %one = arith.constant 1 : i64
  %i = arith.constant 0 : i32
  %ld = arith.extsi %n : i32 to i64
  %da = tile.make_desc %a, [%n, %n], [%ld, %one] : !tile.ptr<f16> -> !tile.desc<64x64xf16>
  %dc = tile.make_desc %c, [%n, %n], [%ld, %one] : !tile.ptr<f32> -> !tile.desc<144x64xf32>
  %x = tile.desc_load %da[%i, %i] : !tile.desc<64x64xf16> -> tensor<64x64xf16>
  %z = tile.dot %x, %x, %zeros : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.print "" %z : tensor<64x64xf32>
  tile.desc_store %dc[%i, %i], %other : !tile.desc<144x64xf32>, tensor<144x64xf32>
  tile.return
}

// A tensor with other uses has too few columns for it; neither rows nor columns of a store may end early; and a left
// operand that is no block for TMA leaves the dot to other engines.
// CHECK-LABEL: tile.kernel @negative_others
// CHECK-COUNT-4: make_desc
// REMARK: remark: descriptor gets no tensor map at launch: {{.*}}power of two{{.*}}used by more
// REMARK: remark: descriptor gets no tensor map at launch: {{.*}}power of two
// REMARK: remark: descriptor gets no tensor map at launch: {{.*}}dimension 0
// REMARK: remark: descriptor gets no tensor map at launch: {{.*}}other operand
tile.kernel @negative_others(%a: !tile.ptr<f16> {tile.name = "a", tile.divisibility = 16 : i32}, %b: !tile.ptr<f16> {tile.name = "b", tile.divisibility = 16 : i32},
                             %c: !tile.ptr<f32> {tile.name = "c", tile.divisibility = 16 : i32}, %n: i32 {tile.name = "n", tile.divisibility = 8 : i32}) {
  %zeros = arith.constant dense<0.0> : tensor<64x160xf32>
  %one = arith.constant 1 : i64
  %i = arith.constant 0 : i32
  %ld = arith.extsi %n : i32 to i64
  %pid = tile.program_id 0
  %db = tile.make_desc %b, [%n, %n], [%ld, %one] : !tile.ptr<f16> -> !tile.desc<64x160xf16>
  %dc = tile.make_desc %c, [%n, %n], [%ld, %one] : !tile.ptr<f32> -> !tile.desc<96x48xf32>
  %da = tile.make_desc %a, [%pid, %n], [%ld, %one] : !tile.ptr<f16> -> !tile.desc<64x64xf16>
  %de = tile.make_desc %a, [%n, %n], [%ld, %one] : !tile.ptr<f16> -> !tile.desc<64x160xf16>
  %x = tile.desc_load %da[%i, %i] : !tile.desc<64x64xf16> -> tensor<64x64xf16>
  %y = tile.desc_load %db[%i, %i] : !tile.desc<64x160xf16> -> tensor<64x160xf16>
  %e = tile.desc_load %de[%i, %i] : !tile.desc<64x160xf16> -> tensor<64x160xf16>
  %z = tile.dot %x, %y, %zeros : tensor<64x64xf16>, tensor<64x160xf16> -> tensor<64x160xf32>
  %w = tile.dot %x, %e, %z : tensor<64x64xf16>, tensor<64x160xf16> -> tensor<64x160xf32>
  %rows = tile.splat %one : i64 -> tensor<96x48xi64>
  %values = arith.sitofp %rows : tensor<96x48xi64> to tensor<96x48xf32>
  tile.desc_store %dc[%i, %i], %values : !tile.desc<96x48xf32>, tensor<96x48xf32>
  tile.print "" %w : tensor<64x160xf32>
  tile.print "" %y : tensor<64x160xf16>
  tile.return
}
