// An instruction that the target lacks makes LLVM give up: one line, exit code 4, no trace, nothing written.
// RUN: rm -f %t.ptx; sh -c 'tilec %s --target=sm_80 -o %t.ptx; echo "exit code $?"' 2>&1 | FileCheck %s
// RUN: not ls %t.ptx
// RUN: tilec %s --target=sm_90a -o %t.ptx

// CHECK: tilec: internal error: Cannot select
// CHECK-NOT: Stack dump
// CHECK: exit code 4
module {
  llvm.func @fence() attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>} {
    nvvm.wgmma.fence.aligned
    llvm.return
  }
}
