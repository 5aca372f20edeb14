// RUN: tile-opt %s --nvvm-carry-words --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @halves
// CHECK: %[[HALF:.*]] = llvm.insertelement %arg1,
// CHECK: %[[START:.*]] = llvm.insertelement %arg2, %[[HALF]]
// CHECK: scf.for {{.*}} iter_args({{.*}}, %[[WORD:.*]] = %[[START]]) -> (f16, f16, vector<2xf16>)
// CHECK: llvm.extractelement %[[WORD]]
// CHECK: scf.yield %{{.*}}, %{{.*}}, %[[NEXT:.*]] : f16, f16, vector<2xf16>
func.func @halves(%n: i32, %x: f16, %y: f16) -> f16 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> (f16, f16) : i32 {
    %sum = arith.addf %a, %b : f16
    %undef = llvm.mlir.undef : vector<2xf16>
    %v = llvm.insertelement %sum, %undef[%c0 : i32] : vector<2xf16>
    %w = llvm.insertelement %a, %v[%c1 : i32] : vector<2xf16>
    %first = llvm.extractelement %w[%c0 : i32] : vector<2xf16>
    %second = llvm.extractelement %w[%c1 : i32] : vector<2xf16>
    scf.yield %first, %second : f16, f16
  }
  return %r#1 : f16
}

// -----

// CHECK-LABEL: func.func @bytes
// CHECK: %[[PAIR:.*]] = llvm.bitcast %{{.*}} : vector<2xi8> to i16
// CHECK: scf.for {{.*}} iter_args({{.*}}, %[[WORD:.*]] = %[[PAIR]]) -> (i8, i8, i16)
// CHECK: llvm.bitcast %[[WORD]] : i16 to vector<2xi8>
// CHECK: %[[NEXT:.*]] = llvm.bitcast %{{.*}} : vector<2xi8> to i16
// CHECK: scf.yield %{{.*}}, %{{.*}}, %[[NEXT]] : i8, i8, i16
func.func @bytes(%n: i32, %x: i8, %word: i16) -> i8 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %x) -> (i8, i8) : i32 {
    %both = arith.extui %b : i8 to i16
    %sum = arith.addi %both, %word : i16
    %v = llvm.bitcast %sum : i16 to vector<2xi8>
    %first = llvm.extractelement %v[%c0 : i32] : vector<2xi8>
    %second = llvm.extractelement %v[%c1 : i32] : vector<2xi8>
    scf.yield %first, %second : i8, i8
  }
  return %r#1 : i8
}

// -----

// The elements are in another order, or come from outside of the loop.
// CHECK-LABEL: func.func @negative_order
// CHECK: scf.for {{.*}} -> (f16, f16, f16, f16)
func.func @negative_order(%n: i32, %x: f16, %outside: vector<2xf16>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %o0 = llvm.extractelement %outside[%c0 : i32] : vector<2xf16>
  %o1 = llvm.extractelement %outside[%c1 : i32] : vector<2xf16>
  %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %x, %c = %x, %d = %x) -> (f16, f16, f16, f16) : i32 {
    %undef = llvm.mlir.undef : vector<2xf16>
    %v = llvm.insertelement %a, %undef[%c0 : i32] : vector<2xf16>
    %first = llvm.extractelement %v[%c0 : i32] : vector<2xf16>
    %second = llvm.extractelement %v[%c1 : i32] : vector<2xf16>
    scf.yield %second, %first, %o0, %o1 : f16, f16, f16, f16
  }
  return
}
