// Results of an inline assembly statement are extracted right after it, not at their uses, to which InstCombine moves
// them: the backend copies all results again for each one that is extracted in another block.
// RUN: tilec %s --emit=llvm | FileCheck %s

// CHECK-LABEL: define ptx_kernel void @once
// CHECK: %[[both:.*]] = {{.*}}asm sideeffect "two.results
// CHECK-NEXT: extractvalue { i32, i32 } %[[both]], 0
// CHECK-NEXT: extractvalue { i32, i32 } %[[both]], 1
// CHECK: br i1
module {
  llvm.func @once(%x: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %both = llvm.inline_asm has_side_effects asm_dialect = att "two.results $0, $1;", "=r,=r" : () -> !llvm.struct<(i32, i32)>
    %a = llvm.extractvalue %both[0] : !llvm.struct<(i32, i32)>
    %b = llvm.extractvalue %both[1] : !llvm.struct<(i32, i32)>
    %first = llvm.icmp "eq" %tid, %zero : i32
    llvm.cond_br %first, ^then, ^end
  ^then:
    %sum = llvm.add %a, %b : i32
    llvm.store %sum, %x : i32, !llvm.ptr<1>
    llvm.br ^end
  ^end:
    llvm.return
  }
}
