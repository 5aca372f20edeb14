// Functions of libdevice are linked, inlined and removed; only a kernel that calls one needs the library.
// REQUIRES: libdevice
// RUN: tilec %s --emit=ptx | FileCheck %s
// RUN: not tilec %s --emit=ptx --cuda-path=/nonexistent 2>&1 | FileCheck %s --check-prefix=MISSING

// CHECK: .entry erf
// CHECK-NOT: call
// CHECK: ex2.approx
// MISSING: tilec: error: the kernel uses functions of libdevice (__nv_erff), but nvvm/libdevice/libdevice.10.bc was not found
module {
  llvm.func @__nv_erff(f32) -> f32
  llvm.func @erf(%x: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
    %v = llvm.load %x : !llvm.ptr<1> -> f32
    %r = llvm.call @__nv_erff(%v) : (f32) -> f32
    llvm.store %r, %x : f32, !llvm.ptr<1>
    llvm.return
  }
}
