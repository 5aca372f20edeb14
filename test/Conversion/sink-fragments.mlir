// RUN: tile-opt %s --nvvm-sink-fragments | FileCheck %s

// The second fragment is loaded and converted after the first step; values that both steps or others use are not moved.
// CHECK-LABEL: llvm.func @steps
// CHECK: llvm.load %arg0
// CHECK-NEXT: %[[BOTH:.*]] = arith.constant
// CHECK-NEXT: %[[X:.*]] = arith.mulf
// CHECK-NEXT: %[[FIRST:.*]] = llvm.inline_asm has_side_effects {{.*}}wgmma.mma_async{{.*}} %[[X]]
// CHECK-NEXT: %[[LOADED:.*]] = llvm.load %arg1
// CHECK-NEXT: %[[Y:.*]] = arith.mulf %[[LOADED]], %[[BOTH]]
// CHECK-NEXT: llvm.inline_asm has_side_effects {{.*}}commit_group{{.*}} %[[Y]], %[[FIRST]]
llvm.func @steps(%p: !llvm.ptr<3>, %q: !llvm.ptr<3>) -> f32 {
  %a = llvm.load %p : !llvm.ptr<3> -> f32
  %b = llvm.load %q : !llvm.ptr<3> -> f32
  %two = arith.constant 2.0 : f32
  %x = arith.mulf %a, %two : f32
  %y = arith.mulf %b, %two : f32
  %first = llvm.inline_asm has_side_effects "wgmma.mma_async $0, $1;", "=f,f" %x : (f32) -> f32
  %second = llvm.inline_asm has_side_effects "wgmma.mma_async $0, $1; wgmma.commit_group;", "=f,f,0" %y, %first : (f32, f32) -> f32
  llvm.return %second : f32
}

// A load is not moved past a store or a barrier; only the conversion is moved.
// CHECK-LABEL: llvm.func @barrier
// CHECK: %[[LOADED:.*]] = llvm.load %arg1
// CHECK: nvvm.barrier
// CHECK: %[[FIRST:.*]] = llvm.inline_asm
// CHECK-NEXT: %[[Y:.*]] = arith.addf %[[LOADED]]
// CHECK-NEXT: llvm.inline_asm {{.*}} %[[Y]], %[[FIRST]]
llvm.func @barrier(%p: !llvm.ptr<3>, %q: !llvm.ptr<3>, %x: f32) -> f32 {
  %b = llvm.load %q : !llvm.ptr<3> -> f32
  nvvm.barrier
  %y = arith.addf %b, %b : f32
  %first = llvm.inline_asm has_side_effects "wgmma.mma_async $0, $1;", "=f,f" %x : (f32) -> f32
  %second = llvm.inline_asm has_side_effects "wgmma.mma_async $0, $1; wgmma.commit_group;", "=f,f,0" %y, %first : (f32, f32) -> f32
  llvm.return %second : f32
}

// Wgmmas that are complete are separate operations: nothing is moved.
// CHECK-LABEL: llvm.func @complete
// CHECK: arith.addf
// CHECK: llvm.inline_asm
// CHECK-NEXT: llvm.inline_asm
llvm.func @complete(%x: f32) -> f32 {
  %y = arith.addf %x, %x : f32
  %first = llvm.inline_asm has_side_effects "wgmma.mma_async $0, $1; wgmma.commit_group;", "=f,f" %x : (f32) -> f32
  %second = llvm.inline_asm has_side_effects "wgmma.mma_async $0, $1; wgmma.commit_group;", "=f,f" %y : (f32) -> f32
  llvm.return %second : f32
}

// Statements in different blocks are not steps of one wgmma, whatever their origin.
// CHECK-LABEL: llvm.func @blocks
// CHECK: arith.addf
// CHECK: llvm.inline_asm
// CHECK: llvm.br
// CHECK: llvm.inline_asm
llvm.func @blocks(%x: f32) -> f32 {
  %y = arith.addf %x, %x : f32
  %first = llvm.inline_asm has_side_effects "wgmma.mma_async $0, $1;", "=f,f" %x : (f32) -> f32
  llvm.br ^next
^next:
  %second = llvm.inline_asm has_side_effects "wgmma.mma_async $0, $1; wgmma.commit_group;", "=f,f,0" %y, %first : (f32, f32) -> f32
  llvm.return %second : f32
}
