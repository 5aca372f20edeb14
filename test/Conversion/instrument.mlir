// RUN: tile-opt %s --nvvm-instrument | FileCheck %s

// The buffer precedes the parameters that the launcher adds. Two clocks of the kernel, then its records: before and
// after what takes time, and before what is only started.
// CHECK-LABEL: llvm.func @k
// CHECK-SAME: (%{{.*}}: !llvm.ptr<1>, %[[TIMES:.*]]: !llvm.ptr<1>, %{{.*}}: i32 {tile.grid_size = 0 : i32})
// CHECK: %[[AREA:.*]] = llvm.inline_asm {{.*}}%globaltimer{{.*}} %[[TIMES]] :
// CHECK: %[[NEXT:.*]] = llvm.alloca
// CHECK: llvm.store %{{.*}}, %[[NEXT]]
// The start of the warp, then line 22.
// CHECK: llvm.inline_asm {{.*}}%clock64
// CHECK: %[[WAIT:.*]] = llvm.mlir.constant(5640 : i64)
// CHECK: llvm.inline_asm {{.*}}%clock64{{.*}} %[[WAIT]] :
// CHECK: nvvm.cp.async.wait.group 0
// CHECK: %[[DONE:.*]] = llvm.mlir.constant(5641 : i64)
// CHECK: llvm.inline_asm {{.*}}%clock64{{.*}} %[[DONE]] :
// CHECK: llvm.inline_asm {{.*}}%laneid
// CHECK-NEXT: llvm.return
llvm.func @k(%p: !llvm.ptr<1>, %size: i32 {tile.grid_size = 0 : i32}) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>} {
  nvvm.cp.async.wait.group 0 loc("k.tile":22:1)
  llvm.return
} loc("k.tile":20:1)

// CHECK-LABEL: llvm.func @other() {
// CHECK-NEXT: llvm.return
llvm.func @other() {
  llvm.return
}
