// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-choose-engine,tile-raise-descriptors,canonicalize,cse))' | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(cta-attach-target{name=sm_80},tile.kernel(tile-choose-engine,tile-raise-descriptors))' | FileCheck %s --check-prefix=NO-TMA

// The bumped pointer of a becomes the coordinate 16 * k, b (contiguous along k) is loaded as it lies in memory, and the
// pointers themselves are gone.
// CHECK-LABEL: tile.kernel @dot
// CHECK-DAG: %[[M:.*]] = arith.maxsi %arg3
// CHECK-DAG: %[[K:.*]] = arith.maxsi %arg5
// CHECK-DAG: %[[A:.*]] = tile.make_desc %arg0, [%[[M]], %[[K]]], [%{{.*}}, %c1_i64] : <f16> -> <64x16xf16>
// CHECK-DAG: %[[B:.*]] = tile.make_desc %arg1, [%{{.*}}, %[[K]]], [%{{.*}}, %c1_i64] : <f16> -> <64x16xf16>
// CHECK-DAG: %[[C:.*]] = tile.make_desc %arg2, [%[[M]], %{{.*}}], [%{{.*}}, %c1_i64] : <f32> -> <64x64xf32>
// CHECK: scf.for %[[I:.*]] = {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (tensor<64x64xf32>)
// CHECK: %[[AT:.*]] = arith.muli %[[I]], %c16_i32
// CHECK: tile.desc_load %[[A]][%[[FIRST:.*]], %[[AT]]]
// CHECK: %[[LOADED:.*]] = tile.desc_load %[[B]][%{{.*}}, %[[AT]]]
// CHECK: tile.trans %[[LOADED]] {order = array<i32: 1, 0>} : tensor<64x16xf16> -> tensor<16x64xf16>
// CHECK: tile.desc_store %[[C]][%[[FIRST]], %{{.*}}]
// CHECK-NOT: tensor<{{.*}}x!tile.ptr
// NO-TMA-NOT: make_desc
tile.kernel @dot(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                     %c: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %m: i32, %n: i32 {tile.divisibility = 4 : i32}, %k: i32,
                     %lda: i32 {tile.divisibility = 8 : i32}, %ldb: i32 {tile.divisibility = 8 : i32},
                     %ldc: i32 {tile.divisibility = 4 : i32}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c15 = arith.constant 15 : i32
  %c16 = arith.constant 16 : i32
  %c64 = arith.constant 64 : i32
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %bump = arith.constant dense<16> : tensor<64x16xi32>
  %bumpB = arith.constant dense<16> : tensor<16x64xi32>
  %pidM = tile.program_id 0
  %pidN = tile.program_id 1
  %firstM = arith.muli %pidM, %c64 : i32
  %firstN = arith.muli %pidN, %c64 : i32
  %r16 = tile.arange 0 to 16 : tensor<16xi32>
  %r64 = tile.arange 0 to 64 : tensor<64xi32>
  %firstMs = tile.splat %firstM : i32 -> tensor<64xi32>
  %rowsLine = arith.addi %firstMs, %r64 : tensor<64xi32>
  %rows = tile.expand_dims %rowsLine {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %ms = tile.splat %m : i32 -> tensor<64x1xi32>
  %inRows = arith.cmpi slt, %rows, %ms : tensor<64x1xi32>
  %firstNs = tile.splat %firstN : i32 -> tensor<64xi32>
  %columnsLine = arith.addi %firstNs, %r64 : tensor<64xi32>
  %columns = tile.expand_dims %columnsLine {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %ns = tile.splat %n : i32 -> tensor<1x64xi32>
  %inColumns = arith.cmpi sgt, %ns, %columns : tensor<1x64xi32>

  // a[rows, ks] = a + rows * lda + ks
  %ldas = tile.splat %lda : i32 -> tensor<64x1xi32>
  %aRows = arith.muli %rows, %ldas : tensor<64x1xi32>
  %aRowsAll = tile.broadcast %aRows : tensor<64x1xi32> -> tensor<64x16xi32>
  %ksRow = tile.expand_dims %r16 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %ksRowAll = tile.broadcast %ksRow : tensor<1x16xi32> -> tensor<64x16xi32>
  %aOffsets = arith.addi %aRowsAll, %ksRowAll : tensor<64x16xi32>
  %as = tile.splat %a : !tile.ptr<f16> -> tensor<64x16x!tile.ptr<f16>>
  %aFirst = tile.addptr %as, %aOffsets : tensor<64x16x!tile.ptr<f16>>, tensor<64x16xi32>
  %inRowsA = tile.broadcast %inRows : tensor<64x1xi1> -> tensor<64x16xi1>

  // b[ks, columns] = b + columns * ldb + ks
  %ldbs = tile.splat %ldb : i32 -> tensor<1x64xi32>
  %bColumns = arith.muli %columns, %ldbs : tensor<1x64xi32>
  %bColumnsAll = tile.broadcast %bColumns : tensor<1x64xi32> -> tensor<16x64xi32>
  %ksColumn = tile.expand_dims %r16 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %ksColumnAll = tile.broadcast %ksColumn : tensor<16x1xi32> -> tensor<16x64xi32>
  %bOffsets = arith.addi %bColumnsAll, %ksColumnAll : tensor<16x64xi32>
  %bs = tile.splat %b : !tile.ptr<f16> -> tensor<16x64x!tile.ptr<f16>>
  %bFirst = tile.addptr %bs, %bOffsets : tensor<16x64x!tile.ptr<f16>>, tensor<16x64xi32>
  %inColumnsB = tile.broadcast %inColumns : tensor<1x64xi1> -> tensor<16x64xi1>

  %rounded = arith.addi %k, %c15 : i32
  %steps = arith.divsi %rounded, %c16 : i32
  %acc:3 = scf.for %i = %c0 to %steps step %c1 iter_args(%sum = %zeros, %ap = %aFirst, %bp = %bFirst)
      -> (tensor<64x64xf32>, tensor<64x16x!tile.ptr<f16>>, tensor<16x64x!tile.ptr<f16>>) : i32 {
    %done = arith.muli %i, %c16 : i32
    %left = arith.subi %k, %done : i32
    %leftRow = tile.splat %left : i32 -> tensor<1x16xi32>
    %inRow = arith.cmpi slt, %ksRow, %leftRow : tensor<1x16xi32>
    %inRowAll = tile.broadcast %inRow : tensor<1x16xi1> -> tensor<64x16xi1>
    %aMask = arith.andi %inRowsA, %inRowAll : tensor<64x16xi1>
    %x = tile.load %ap mask %aMask : tensor<64x16x!tile.ptr<f16>>
    %leftColumn = tile.splat %left : i32 -> tensor<16x1xi32>
    %inColumn = arith.cmpi slt, %ksColumn, %leftColumn : tensor<16x1xi32>
    %inColumnAll = tile.broadcast %inColumn : tensor<16x1xi1> -> tensor<16x64xi1>
    %bMask = arith.andi %inColumnAll, %inColumnsB : tensor<16x64xi1>
    %y = tile.load %bp mask %bMask : tensor<16x64x!tile.ptr<f16>>
    %next = tile.dot %x, %y, %sum : tensor<64x16xf16>, tensor<16x64xf16> -> tensor<64x64xf32>
    %aNext = tile.addptr %ap, %bump : tensor<64x16x!tile.ptr<f16>>, tensor<64x16xi32>
    %bNext = tile.addptr %bp, %bumpB : tensor<16x64x!tile.ptr<f16>>, tensor<16x64xi32>
    scf.yield %next, %aNext, %bNext : tensor<64x64xf32>, tensor<64x16x!tile.ptr<f16>>, tensor<16x64x!tile.ptr<f16>>
  }

  %ldcs = tile.splat %ldc : i32 -> tensor<64x1xi32>
  %cRows = arith.muli %rows, %ldcs : tensor<64x1xi32>
  %cRowsAll = tile.broadcast %cRows : tensor<64x1xi32> -> tensor<64x64xi32>
  %columnsAll = tile.broadcast %columns : tensor<1x64xi32> -> tensor<64x64xi32>
  %cOffsets = arith.addi %cRowsAll, %columnsAll : tensor<64x64xi32>
  %cs = tile.splat %c : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %cp = tile.addptr %cs, %cOffsets : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  %inRowsC = tile.broadcast %inRows : tensor<64x1xi1> -> tensor<64x64xi1>
  %inColumnsC = tile.broadcast %inColumns : tensor<1x64xi1> -> tensor<64x64xi1>
  %cMask = arith.andi %inRowsC, %inColumnsC : tensor<64x64xi1>
  tile.store %cp, %acc#0 mask %cMask : tensor<64x64x!tile.ptr<f32>>
  tile.return
}

// Without a dot there is no gain.
// CHECK-LABEL: tile.kernel @copy
// CHECK-NOT: desc
// CHECK: tile.store
tile.kernel @copy(%a: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %b: !tile.ptr<f32> {tile.divisibility = 16 : i32},
                  %n: i32) {
  %r = tile.arange 0 to 64 : tensor<64xi32>
  %ns = tile.splat %n : i32 -> tensor<64xi32>
  %mask = arith.cmpi slt, %r, %ns : tensor<64xi32>
  %as = tile.splat %a : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %ap = tile.addptr %as, %r : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %bs = tile.splat %b : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %bp = tile.addptr %bs, %r : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %x = tile.load %ap mask %mask : tensor<64x!tile.ptr<f32>>
  tile.store %bp, %x mask %mask : tensor<64x!tile.ptr<f32>>
  tile.return
}
