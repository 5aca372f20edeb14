// Line tables reach PTX and cubin without `.target ..., debug`, at which ptxas would stop optimising.
// RUN: tilec %s --emit=ptx | FileCheck %s
// RUN: %if ptxas %{ tilec %s -o %t.cubin && llvm-dwarfdump --debug-line %t.cubin | FileCheck %s --check-prefix=CUBIN %}

// CHECK: .target sm_90a{{$}}
// CHECK: .loc {{[0-9]+}} [[#@LINE+7]]
// CHECK: .file {{.*}}line-tables.mlir"
// CUBIN: name: "line-tables.mlir"
// CUBIN: is_stmt
module {
  llvm.func @store(%x: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    llvm.store %tid, %x : i32, !llvm.ptr<1>
    llvm.return
  }
}
