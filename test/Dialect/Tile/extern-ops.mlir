// RUN: tile-opt %s | tile-opt | FileCheck %s

// CHECK-LABEL: tile.kernel @asm
tile.kernel @asm(%p: !tile.ptr<f32>) {
  %x = arith.constant dense<1.0> : tensor<128xf32>
  // CHECK: tile.inline_asm "rcp.approx.f32 $0, $1;", "=f,f" pack 1 pure(%{{.*}}) : (tensor<128xf32>) -> tensor<128xf32>
  %y = tile.inline_asm "rcp.approx.f32 $0, $1;", "=f,f" pack 1 pure(%x) : (tensor<128xf32>) -> tensor<128xf32>
  %b = arith.constant dense<1> : tensor<128xi8>
  // CHECK: tile.inline_asm {{.*}} pack 4(%{{.*}})
  %c = tile.inline_asm "not.b32 $0, $1;", "=r,r" pack 4(%b) : (tensor<128xi8>) -> tensor<128xi8>
  // CHECK: tile.address_cast %{{.*}} : !tile.ptr<f32> -> i64
  %a = tile.address_cast %p : !tile.ptr<f32> -> i64
  // CHECK: tile.barrier
  tile.barrier
  // CHECK: tile.grid_dependency wait
  tile.grid_dependency wait
  // CHECK: tile.grid_dependency launch
  tile.grid_dependency launch
  %flag = tile.address_cast %a : i64 -> !tile.ptr<i32>
  %one = arith.constant 1 : i32
  // CHECK: tile.wait_flag %{{.*}}, %{{.*}} : <i32>
  tile.wait_flag %flag, %one : !tile.ptr<i32>
  // CHECK: tile.library_call erfinv(%{{.*}}) : tensor<128xf32>
  %e = tile.library_call erfinv(%x) : tensor<128xf32>
  // CHECK: tile.library_call hypot(%{{.*}}, %{{.*}}) : tensor<128xf32>
  %h = tile.library_call hypot(%e, %x) : tensor<128xf32>
  tile.return
}
