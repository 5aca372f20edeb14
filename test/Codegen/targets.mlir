// Every target of the table: PTX with its own version and name, and a cubin that ptxas accepts.
// RUN: tilec %s --emit=ptx --target=sm_75 | FileCheck %s -DVERSION=8.0 -DTARGET=sm_75
// RUN: tilec %s --emit=ptx --target=sm_80 | FileCheck %s -DVERSION=8.0 -DTARGET=sm_80
// RUN: tilec %s --emit=ptx --target=sm_89 | FileCheck %s -DVERSION=8.4 -DTARGET=sm_89
// RUN: tilec %s --emit=ptx --target=sm_90a | FileCheck %s -DVERSION=8.7 -DTARGET=sm_90a
// RUN: tilec %s --emit=ptx --target=sm_100a | FileCheck %s -DVERSION=8.8 -DTARGET=sm_100a
// RUN: tilec %s --emit=ptx --target=sm_120 | FileCheck %s -DVERSION=8.8 -DTARGET=sm_120
// RUN: %if ptxas %{ tilec %s --target=sm_75 -o %t.cubin %}
// RUN: %if ptxas %{ tilec %s --target=sm_80 -o %t.cubin %}
// RUN: %if ptxas %{ tilec %s --target=sm_86 -o %t.cubin %}
// RUN: %if ptxas %{ tilec %s --target=sm_87 -o %t.cubin %}
// RUN: %if ptxas %{ tilec %s --target=sm_89 -o %t.cubin %}
// RUN: %if ptxas %{ tilec %s --target=sm_90 -o %t.cubin %}
// RUN: %if ptxas %{ tilec %s --target=sm_90a -o %t.cubin %}
// RUN: %if ptxas %{ tilec %s --target=sm_100a -o %t.cubin %}
// RUN: %if ptxas %{ tilec %s --target=sm_120 -o %t.cubin %}
// RUN: %if ptxas %{ tilec %s --target=sm_120a -o %t.cubin %}

// CHECK: .version [[VERSION]]
// CHECK: .target [[TARGET]]{{$}}
// CHECK: .entry scale(
// CHECK: .reqntid 128
module {
  llvm.func @scale(%x: !llvm.ptr<1>, %factor: f32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %p = llvm.getelementptr %x[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %v = llvm.load %p : !llvm.ptr<1> -> f32
    %r = llvm.fmul %v, %factor : f32
    llvm.store %r, %p : f32, !llvm.ptr<1>
    llvm.return
  }
}
