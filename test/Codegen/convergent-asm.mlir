// A warp-wide instruction in inline assembly must not be copied into both sides of a divergent branch. LLVM does that
// unless the call is convergent, which the LLVM dialect cannot express.
// RUN: tilec %s --emit=llvm | FileCheck %s

// CHECK-LABEL: define ptx_kernel void @once
// CHECK-COUNT-1: call {{.*}}asm sideeffect "warp.wide.aligned;"
// CHECK-NOT: asm sideeffect "warp.wide.aligned;"
// CHECK: attributes {{.*}} = { {{.*}}convergent
module {
  llvm.func @once(%x: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %first = llvm.icmp "eq" %tid, %zero : i32
    llvm.cond_br %first, ^then, ^join
  ^then:
    llvm.store %one, %x : i32, !llvm.ptr<1>
    llvm.br ^join
  ^join:
    llvm.inline_asm has_side_effects asm_dialect = att "warp.wide.aligned;", "" : () -> ()
    llvm.cond_br %first, ^again, ^end
  ^again:
    llvm.store %zero, %x : i32, !llvm.ptr<1>
    llvm.br ^end
  ^end:
    llvm.return
  }
}
