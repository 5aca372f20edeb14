// The kernel as a function: launch bounds, alignment, bool arguments, grid coordinates.
// RUN: tile-opt %s --convert-cta-to-nvvm | FileCheck %s

// CHECK: llvm.mlir.global external @tile_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

// CHECK-LABEL: llvm.func @kernel
// CHECK-SAME: %{{.*}}: !llvm.ptr<1> {llvm.align = 16 : i64}, %{{.*}}: i8, %{{.*}}: i32
// CHECK-SAME: nvvm.kernel, nvvm.reqntid = array<i32: 256>, tile.shared_bytes = 4096 : i64
tile.kernel @kernel(%p: !tile.ptr<i32> {tile.name = "p", tile.divisibility = 48 : i32}, %flag: i1, %n: i32)
    attributes {num_warps = 8 : i32, shared_bytes = 4096 : i64} {
  // CHECK: %[[FLAG:.*]] = arith.cmpi ne, %{{.*}} : i8
  // CHECK-DAG: nvvm.read.ptx.sreg.ctaid.y
  // CHECK-DAG: nvvm.read.ptx.sreg.nctaid.z
  %y = tile.program_id 1
  %z = tile.num_programs 2
  %b = cta.alloc at 1024 : !cta.buffer<256xi32, #cta.layout<[256], offset = [[1], [2], [4], [8], [16], [32], [64], [128]]>>
  // CHECK: llvm.intr.assume %[[FLAG]]
  tile.assume %flag
  // CHECK: arith.minui
  // CHECK: arith.divui
  %i, %j = tile.swizzle2d %y, %y, %z, %z, %n
  %s = arith.addi %i, %j : i32
  tile.store %p, %s : !tile.ptr<i32>
  // CHECK: llvm.return
  tile.return
}
