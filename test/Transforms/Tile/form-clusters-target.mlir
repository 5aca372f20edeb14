// RUN: tile-opt %s --pass-pipeline='builtin.module(cta-attach-target{name=sm_80},tile.kernel(tile-distribute-programs,tile-form-clusters))' --verify-diagnostics | FileCheck %s

// CHECK-LABEL: tile.kernel @k(
// CHECK-NOT: cluster = [
// expected-remark @below {{no clusters: the target has no clusters}}
tile.kernel @k(%d: !tile.desc<64x64xf16> {tile.tensor_map = #tile.tensor_map<base = "a">}) attributes {cluster = array<i32: 2, 1, 1>} {
  tile.return
}
