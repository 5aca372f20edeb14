// RUN: tile-opt %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(tile-choose-engine,tile-distribute-programs,tile-device-descriptors))' --mlir-print-op-on-diagnostic=false 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --input-file=%t.remarks --check-prefix=REMARK
// RUN: tile-opt %s --split-input-file --pass-pipeline='builtin.module(cta-attach-target{name=sm_120},tile.kernel(tile-choose-engine,tile-distribute-programs,tile-device-descriptors))' 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: tile-opt %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(tile-choose-engine,tile-device-descriptors))' 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER-NOT: tile.scratch

// Sizes come from memory. Each CTA has memory for each map; a map is encoded before the loop that reads through it, and
// is needed if that loop runs.
// CHECK-LABEL: tile.kernel @groups
// CHECK-SAME: %[[SCRATCH:[^:]*]]: !tile.ptr<i8> {tile.scratch = 256 : i64}
// CHECK: %[[CTA:.*]] = tile.program_id 0
// CHECK: %[[WIDE:.*]] = arith.extui %[[CTA]]
// CHECK: %[[OFFSET:.*]] = arith.muli %[[WIDE]], %c256_i64
// CHECK: %[[FIRST:.*]] = tile.addptr %[[SCRATCH]], %[[OFFSET]]
// CHECK: %[[N:.*]] = tile.load
// CHECK-NEXT: %{{.*}} = tile.inline_asm "// group"
// CHECK-NEXT: %[[ANY:.*]] = arith.cmpi sgt, %[[N]], %{{.*}}
// CHECK-NEXT: %[[A:.*]] = tile.make_desc {{.*}} at %[[FIRST]] if %[[ANY]]
// CHECK: %[[SECOND:.*]] = tile.addptr %[[FIRST]], %c128_i64
// CHECK: tile.make_desc {{.*}} at %[[SECOND]] if
// CHECK-NEXT: scf.for %[[K:.*]] =
// A map has at least one element, even if the tensor has none; a coordinate outside of loops then begins after it.
// CHECK: %[[EMPTY:.*]] = arith.cmpi sle, %[[N]], %c0_i32
// CHECK: %[[ROW:.*]] = arith.select %[[EMPTY]], %c1073741824_i32, %c0_i32
// CHECK: tile.desc_load %[[A]][%[[ROW]], %[[K]]]
tile.kernel @groups(%a: !tile.ptr<f16> {tile.name = "a"}, %sizes: !tile.ptr<i32> {tile.name = "sizes"}, %g: i32, %ld: i64) {
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %one = arith.constant 1 : i64
  scf.for %i = %c0 to %g step %c1 : i32 {
    %p = tile.addptr %sizes, %i : !tile.ptr<i32>, i32
    %n = tile.load %p : !tile.ptr<i32>
    %d = tile.make_desc %a, [%n, %n], [%ld, %one] : !tile.ptr<f16> -> !tile.desc<64x64xf16>
    %e = tile.make_desc %a, [%n, %n], [%ld, %one] : !tile.ptr<f16> -> !tile.desc<64x64xf16>
    %use1 = tile.inline_asm "// group", "=r,r" pack 1(%i) : (i32) -> i32
    scf.for %k = %c0 to %n step %c64 : i32 {
      %x = tile.desc_load %d[%c0, %k] : !tile.desc<64x64xf16> -> tensor<64x64xf16>
      %y = tile.desc_load %e[%k, %c0] : !tile.desc<64x64xf16> -> tensor<64x64xf16>
      %c = tile.dot %x, %y, %z : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
      %use2 = tile.inline_asm "// ", "=f,f" pack 1(%c) : (tensor<64x64xf32>) -> tensor<64x64xf32>
    }
  }
  tile.return
}

// -----

// Also read outside the loop: encoded unconditionally, at the original position.
// CHECK-LABEL: tile.kernel @outside
// CHECK: tile.make_desc {{.*}} at %{{[0-9a-z_]+}} :
// CHECK-NOT: scf.for
// CHECK: tile.desc_load
tile.kernel @outside(%a: !tile.ptr<f16> {tile.name = "a"}, %n: i32, %ld: i64) {
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %one = arith.constant 1 : i64
  %d = tile.make_desc %a, [%n, %n], [%ld, %one] : !tile.ptr<f16> -> !tile.desc<64x64xf16>
  %x = tile.desc_load %d[%c0, %c0] : !tile.desc<64x64xf16> -> tensor<64x64xf16>
  scf.for %k = %c0 to %n step %c1 : i32 {
    %y = tile.desc_load %d[%k, %c0] : !tile.desc<64x64xf16> -> tensor<64x64xf16>
    %c = tile.dot %x, %y, %z : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %use3 = tile.inline_asm "// ", "=f,f" pack 1(%c) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  }
  tile.return
}

// -----

// Two maps, for reading and for writing whole 16 bytes, in addition to those that are not encoded.
// CHECK-LABEL: tile.kernel @negative_kinds
// CHECK-SAME: tile.scratch = 256 : i64
// CHECK-COUNT-2: at %
// CHECK-NOT: at %
// REMARK: remark: descriptor gets no tensor map in the kernel: {{.*}}stored{{.*}}multiple of 8
// REMARK: remark: descriptor gets no tensor map in the kernel: {{.*}}loads and stores
// REMARK: remark: descriptor gets no tensor map in the kernel: {{.*}}rank 3
// REMARK: remark: descriptor gets no tensor map in the kernel: {{.*}}i1
// REMARK: remark: descriptor gets no tensor map in the kernel: {{.*}}last stride
// REMARK: remark: descriptor gets no tensor map in the kernel: {{.*}}operations other than
// REMARK: remark: descriptor gets no tensor map in the kernel: {{.*}}power of two
// REMARK: remark: descriptor gets no tensor map in the kernel: {{.*}}other operand
tile.kernel @negative_kinds(%a: !tile.ptr<f16> {tile.name = "a"}, %bits: !tile.ptr<i1> {tile.name = "bits"}, %n: i32, %ld: i64, %choice: i1) {
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %c0 = arith.constant 0 : i32
  %one = arith.constant 1 : i64
  %d = tile.make_desc %a, [%n, %n], [%ld, %one] : !tile.ptr<f16> -> !tile.desc<64x64xf16>
  %x = tile.desc_load %d[%c0, %c0] : !tile.desc<64x64xf16> -> tensor<64x64xf16>
  %c = tile.dot %x, %x, %z : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  %use4 = tile.inline_asm "// ", "=f,f" pack 1(%c) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %written = tile.make_desc %a, [%n, %n], [%ld, %one] : !tile.ptr<f16> -> !tile.desc<64x64xf16>
  tile.desc_store %written[%c0, %c0], %x : !tile.desc<64x64xf16>, tensor<64x64xf16>
  %c8 = arith.constant 8 : i32
  %whole = arith.muli %n, %c8 : i32
  %to = tile.make_desc %a, [%n, %whole], [%ld, %one] : !tile.ptr<f16> -> !tile.desc<64x64xf16>
  tile.desc_store %to[%c0, %c0], %x : !tile.desc<64x64xf16>, tensor<64x64xf16>
  %both = tile.make_desc %a, [%n, %whole], [%ld, %one] : !tile.ptr<f16> -> !tile.desc<64x64xf16>
  tile.desc_store %both[%c0, %c0], %x : !tile.desc<64x64xf16>, tensor<64x64xf16>
  %u = tile.desc_load %both[%c0, %c0] : !tile.desc<64x64xf16> -> tensor<64x64xf16>
  %use5 = tile.inline_asm "// ", "=h,h" pack 1(%u) : (tensor<64x64xf16>) -> tensor<64x64xf16>
  %cube = tile.make_desc %a, [%n, %n, %n], [%ld, %ld, %one] : !tile.ptr<f16> -> !tile.desc<2x8x8xf16>
  %v = tile.desc_load %cube[%c0, %c0, %c0] : !tile.desc<2x8x8xf16> -> tensor<2x8x8xf16>
  %use6 = tile.inline_asm "// ", "=h,h" pack 1(%v) : (tensor<2x8x8xf16>) -> tensor<2x8x8xf16>
  %mask = tile.make_desc %bits, [%n], [%one] : !tile.ptr<i1> -> !tile.desc<64xi1>
  %m = tile.desc_load %mask[%c0] : !tile.desc<64xi1> -> tensor<64xi1>
  %bit = arith.extui %m : tensor<64xi1> to tensor<64xi32>
  %use11 = tile.inline_asm "// ", "=r,r" pack 1(%bit) : (tensor<64xi32>) -> tensor<64xi32>
  %strided = tile.make_desc %a, [%n], [%ld] : !tile.ptr<f16> -> !tile.desc<64xf16>
  %s = tile.desc_load %strided[%c0] : !tile.desc<64xf16> -> tensor<64xf16>
  %use7 = tile.inline_asm "// ", "=h,h" pack 1(%s) : (tensor<64xf16>) -> tensor<64xf16>
  %passed = tile.make_desc %a, [%n, %n], [%ld, %one] : !tile.ptr<f16> -> !tile.desc<64x64xf16>
  %one_of = arith.select %choice, %passed, %passed : !tile.desc<64x64xf16>
  %t = tile.desc_load %one_of[%c0, %c0] : !tile.desc<64x64xf16> -> tensor<64x64xf16>
  %use8 = tile.inline_asm "// ", "=h,h" pack 1(%t) : (tensor<64x64xf16>) -> tensor<64x64xf16>
  %tall = tile.make_desc %a, [%n, %n], [%ld, %one] : !tile.ptr<f16> -> !tile.desc<144x64xf16>
  %rows = tile.desc_load %tall[%c0, %c0] : !tile.desc<144x64xf16> -> tensor<144x64xf16>
  %use9 = tile.inline_asm "// ", "=h,h" pack 1(%rows) : (tensor<144x64xf16>) -> tensor<144x64xf16>
  %wide = tile.make_desc %a, [%n, %n], [%ld, %one] : !tile.ptr<f16> -> !tile.desc<64x144xf16>
  %columns = tile.desc_load %wide[%c0, %c0] : !tile.desc<64x144xf16> -> tensor<64x144xf16>
  %w = arith.constant dense<0.0> : tensor<64x144xf32>
  %product = tile.dot %t, %columns, %w : tensor<64x64xf16>, tensor<64x144xf16> -> tensor<64x144xf32>
  %use10 = tile.inline_asm "// ", "=f,f" pack 1(%product) : (tensor<64x144xf32>) -> tensor<64x144xf32>
  tile.return
}

// -----

// Operands of other instructions are not worth a map.
// CHECK-LABEL: tile.kernel @negative_type
// CHECK-NOT: tile.scratch
tile.kernel @negative_type(%a: !tile.ptr<f32> {tile.name = "a"}, %n: i32, %ld: i64) {
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %c0 = arith.constant 0 : i32
  %one = arith.constant 1 : i64
  %d = tile.make_desc %a, [%n, %n], [%ld, %one] : !tile.ptr<f32> -> !tile.desc<64x64xf32>
  %x = tile.desc_load %d[%c0, %c0] : !tile.desc<64x64xf32> -> tensor<64x64xf32>
  %c = tile.dot %x, %x, %z {precision = #tile<precision ieee>} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %use11 = tile.inline_asm "// ", "=f,f" pack 1(%c) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  tile.return
}
