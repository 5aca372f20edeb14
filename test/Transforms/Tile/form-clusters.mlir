// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-distribute-programs,tile-form-clusters,canonicalize))' --split-input-file --verify-diagnostics | FileCheck %s

!d = !tile.desc<64x64xf16>

// Only reads of blocks run for programs that do not exist; assumptions of a program need not hold for these.
// CHECK-LABEL: tile.kernel @ordered(
// CHECK-SAME: cluster_ctas = 2 : i32
// CHECK: tile.programs (%[[I:.*]], %[[J:.*]], %{{.*}}, %[[EXISTS:.*]]) in ({{.*}}) #tile.work<order = swizzle2d, group = 8, cluster = [2, 1]>
// CHECK-NOT: tile.assume
// CHECK: tile.desc_load %{{.*}}[%[[I]], %[[J]]]
// CHECK-NEXT: scf.if %[[EXISTS]] {
// CHECK-NEXT: tile.desc_store
// CHECK-NEXT: }
tile.kernel @ordered(%d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}) attributes {cluster = array<i32: 2, 1, 1>} {
  %c8 = arith.constant 8 : i32
  %x = tile.program_id 0
  %y = tile.program_id 1
  %sx = tile.num_programs 0
  %sy = tile.num_programs 1
  %i, %j = tile.swizzle2d %x, %y, %sx, %sy, %c8
  %inside = arith.cmpi slt, %i, %sx : i32
  tile.assume %inside
  %v = tile.desc_load %d[%i, %j] : !d -> tensor<64x64xf16>
  tile.desc_store %d[%i, %j], %v : !d, tensor<64x64xf16>
  tile.return
}

// Clusters along the second axis, in the grid's own order.
// CHECK-LABEL: tile.kernel @plain(
// CHECK: tile.programs (%[[I:.*]], %[[J:.*]], %{{.*}}, %[[EXISTS:.*]]) in ({{.*}}) #tile.work<order = grid, cluster = [1, 2]>
// CHECK-NEXT: scf.if %[[EXISTS]]
// CHECK-NEXT: %{{.*}} = tile.inline_asm {{.*}}(%[[I]], %[[J]])
tile.kernel @plain(%d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}) attributes {cluster = array<i32: 1, 2, 1>} {
  %x = tile.program_id 0
  %y = tile.program_id 1
  %use1 = tile.inline_asm "// ", "=r,r,r" pack 1(%x, %y) : (i32, i32) -> i32
  tile.return
}

// The steps of a program are split by another pass.
// CHECK-LABEL: tile.kernel @along_k(
// CHECK-NOT: cluster = [
tile.kernel @along_k(%d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}) attributes {cluster = array<i32: 1, 1, 2>} {
  tile.return
}

// -----

!d = !tile.desc<64x64xf16>

// A program that does not exist would read memory that need not exist, before all CTAs have read their blocks.
// CHECK-LABEL: tile.kernel @negative_pointers(
// CHECK-NOT: cluster = [
// expected-remark @below {{no clusters: programs access memory through pointers}}
tile.kernel @negative_pointers(%d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}, %p: !tile.ptr<i32>) attributes {cluster = array<i32: 2, 1, 1>} {
  %x = tile.program_id 0
  %q = tile.addptr %p, %x : !tile.ptr<i32>, i32
  %i = tile.load %q : !tile.ptr<i32>
  %v = tile.desc_load %d[%i, %i] : !d -> tensor<64x64xf16>
  %use2 = tile.inline_asm "// ", "=h,h" pack 1(%v) : (tensor<64x64xf16>) -> tensor<64x64xf16>
  tile.return
}

// -----

!d = !tile.desc<64x64xf16>

// A loop whose number of iterations is not known in advance may not end for a program that does not exist.
// CHECK-LABEL: tile.kernel @negative_while(
// CHECK-NOT: cluster = [
// expected-remark @below {{no clusters: programs access memory through pointers}}
tile.kernel @negative_while(%d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}) attributes {cluster = array<i32: 2, 1, 1>} {
  %x = tile.program_id 0
  %n = tile.num_programs 0
  %i = scf.while (%k = %x) : (i32) -> i32 {
    %goes_on = arith.cmpi ne, %k, %n : i32
    scf.condition(%goes_on) %k : i32
  } do {
  ^bb0(%k: i32):
    %next = arith.addi %k, %k : i32
    scf.yield %next : i32
  }
  %v = tile.desc_load %d[%i, %i] : !d -> tensor<64x64xf16>
  %use3 = tile.inline_asm "// ", "=h,h" pack 1(%v) : (tensor<64x64xf16>) -> tensor<64x64xf16>
  tile.return
}

// -----

// CHECK-LABEL: tile.kernel @negative_no_tensor_maps(
// CHECK-NOT: cluster = [
// expected-remark @below {{no clusters: the kernel is not persistent}}
tile.kernel @negative_no_tensor_maps(%p: !tile.ptr<i32>) attributes {cluster = array<i32: 2, 1, 1>} {
  tile.return
}

// -----

!d = !tile.desc<64x64xf16>

// CHECK-LABEL: tile.kernel @negative_own_maps(
// CHECK-NOT: cluster = [
// expected-remark @below {{no clusters: the kernel encodes its own tensor maps}}
tile.kernel @negative_own_maps(%d: !d {tile.tensor_map = #tile.tensor_map<base = "a">}, %p: !tile.ptr<f16>, %place: !tile.ptr<i8>, %ld: i64) attributes {cluster = array<i32: 2, 1, 1>} {
  %x = tile.program_id 0
  %e = tile.make_desc %p, [%x, %x], [%ld, %ld] at %place : !tile.ptr<f16>, !tile.ptr<i8> -> !d
  %v = tile.desc_load %d[%x, %x] : !d -> tensor<64x64xf16>
  %w = tile.desc_load %e[%x, %x] : !d -> tensor<64x64xf16>
  %use4 = tile.inline_asm "// ", "=h,h,h" pack 1(%v, %w) : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
  tile.return
}
