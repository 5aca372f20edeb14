// Constraints that do not match the operands break LLVM's code generator, and its verifier does not check them.
// RUN: not tilec %s --emit=ptx -o - 2>&1 | FileCheck %s

// CHECK: error: constraints '=r,l,1' of inline assembly: {{.}}
llvm.func @tied_to_input(%p: !llvm.ptr<1> {tile.name = "p"}, %old: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>, tile.shared_bytes = 0 : i64} {
  %x = llvm.inline_asm has_side_effects "ld.global.b32 $0, [$1];", "=r,l,1" %p, %old : (!llvm.ptr<1>, i32) -> i32
  llvm.store %x, %p : i32, !llvm.ptr<1>
  llvm.return
}
