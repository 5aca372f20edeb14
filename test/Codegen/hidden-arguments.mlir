// Arguments after a kernel's parameters are not parameters: tensor maps become recipes, the grid's size a persistent
// launch, scratch memory its size. Anything else in their place is rejected.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: tilec maps.mlir --emit=manifest | tr -d ' \n' | FileCheck maps.mlir
// RUN: tilec maps.mlir --emit=ptx | FileCheck maps.mlir --check-prefix=PTX
// RUN: %if ptxas %{ tilec maps.mlir --emit=header | FileCheck maps.mlir --check-prefix=HEADER %}
// RUN: not tilec order.mlir --emit=manifest 2>&1 | FileCheck order.mlir
// RUN: not tilec box.mlir --emit=manifest 2>&1 | FileCheck box.mlir
// RUN: not tilec base.mlir --emit=manifest 2>&1 | FileCheck base.mlir
// RUN: tilec scratch.mlir --emit=manifest | tr -d ' \n' | FileCheck scratch.mlir
// RUN: tilec scratch.mlir --emit=ptx | FileCheck scratch.mlir --check-prefix=PTX
// RUN: %if ptxas %{ tilec scratch.mlir --emit=header | FileCheck scratch.mlir --check-prefix=HEADER %}
// RUN: tilec scratch-of-maps.mlir --emit=manifest | tr -d ' \n' | FileCheck scratch-of-maps.mlir
// RUN: not tilec no-grid.mlir --emit=manifest 2>&1 | FileCheck no-grid.mlir
// RUN: not tilec no-bytes.mlir --emit=manifest 2>&1 | FileCheck no-bytes.mlir
// RUN: not tilec no-pointer.mlir --emit=manifest 2>&1 | FileCheck no-pointer.mlir

//--- maps.mlir
// CHECK: {"name":"a",{{.*}}{"name":"M",{{.*}}{"name":"K","type":"i32","divisibility":1}],
// CHECK-SAME: "tensor_maps":[{"base":"a","element":"f16","shape":["M","K"],"strides":["K"],"box":[128,64],"swizzle":128,"l2_promotion":256}]
// CHECK-SAME: "persistent":true,"ctas_per_sm":{{[0-9]+}}}
// PTX: .param .align 64 .b8 k_param_3[128]
// HEADER: a: accessed by TMA; its address and its strides in bytes (K times 2) must be multiples of 16
// HEADER: k_launch(tile_kernel *kernel, void *stream, void *a, int64_t M, int64_t K)
llvm.func @k(%a: !llvm.ptr {tile.name = "a"}, %m: i32 {tile.name = "M"}, %k: i32 {tile.name = "K"},
             %map: !llvm.ptr {llvm.byval = !llvm.array<16 x i64>, llvm.align = 64 : i64, nvvm.grid_constant,
                              tile.tensor_map = #tile.tensor_map<base = "a", shape = ["M", "K"], strides = ["K"], box = [128, 64],
                                                                 swizzle = 128, l2_promotion = 256, element = f16>},
             %x: i32 {tile.grid_size = 0 : i32}, %y: i32 {tile.grid_size = 1 : i32}, %z: i32 {tile.grid_size = 2 : i32})
    attributes {nvvm.kernel, nvvm.reqntid = array<i32: 384>} {
  llvm.return
}

//--- order.mlir
// CHECK: argument 2 of the lowered kernel 'k' is not the expected parameter, tensor map, grid dimension or scratch memory
llvm.func @k(%m: i32 {tile.name = "M"}, %x: i32 {tile.grid_size = 0 : i32}, %z: i32 {tile.grid_size = 2 : i32})
    attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  llvm.return
}

//--- box.mlir
// CHECK: the tensor map of 'a' has no box
llvm.func @k(%a: !llvm.ptr {tile.name = "a"}, %map: !llvm.ptr {tile.tensor_map = #tile.tensor_map<base = "a", shape = ["8"]>})
    attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  llvm.return
}

//--- base.mlir
// CHECK: the tensor map of 'b' has no parameter of this name as its base
llvm.func @k(%a: !llvm.ptr {tile.name = "a"}, %map: !llvm.ptr {tile.tensor_map = #tile.tensor_map<base = "b", shape = ["8"]>})
    attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  llvm.return
}

//--- scratch.mlir
// CHECK: "parameters":[{"name":"M","type":"i32","divisibility":1}],
// CHECK-SAME: "persistent":true,"ctas_per_sm":{{[0-9]+}},"scratch_per_cta":131200,"shares_tails":true}
// PTX: .param .u64 .ptr .global .align 1 k_param_4
// HEADER: k_launch(tile_kernel *kernel, void *stream, int64_t M)
llvm.func @k(%m: i32 {tile.name = "M"},
             %x: i32 {tile.grid_size = 0 : i32}, %y: i32 {tile.grid_size = 1 : i32}, %z: i32 {tile.grid_size = 2 : i32},
             %scratch: !llvm.ptr<1> {tile.scratch = 131200 : i64, tile.shares_tails})
    attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  llvm.return
}

//--- scratch-of-maps.mlir
// CHECK: "scratch_per_cta":128,"shares_tails":false}
llvm.func @k(%m: i32 {tile.name = "M"},
             %x: i32 {tile.grid_size = 0 : i32}, %y: i32 {tile.grid_size = 1 : i32}, %z: i32 {tile.grid_size = 2 : i32},
             %scratch: !llvm.ptr<1> {tile.scratch = 128 : i64})
    attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>} {
  llvm.return
}

//--- no-grid.mlir
// CHECK: argument 1 of the lowered kernel 'k' is not the expected parameter, tensor map, grid dimension or scratch memory
llvm.func @k(%m: i32 {tile.name = "M"}, %scratch: !llvm.ptr<1> {tile.scratch = 128 : i64})
    attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  llvm.return
}

//--- no-bytes.mlir
// CHECK: attribute 'tile.scratch' of argument 3 is 0 : i64; expected a positive number of bytes
llvm.func @k(%x: i32 {tile.grid_size = 0 : i32}, %y: i32 {tile.grid_size = 1 : i32}, %z: i32 {tile.grid_size = 2 : i32},
             %scratch: !llvm.ptr<1> {tile.scratch = 0 : i64})
    attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  llvm.return
}

//--- no-pointer.mlir
// CHECK: the scratch memory of the lowered kernel 'k' has type i64; expected a pointer
llvm.func @k(%x: i32 {tile.grid_size = 0 : i32}, %y: i32 {tile.grid_size = 1 : i32}, %z: i32 {tile.grid_size = 2 : i32},
             %scratch: i64 {tile.scratch = 128 : i64})
    attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  llvm.return
}
