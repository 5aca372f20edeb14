// Three roles of several warps, written by hand: one gathers with cp.async, one computes, and one of two warps only
// stores. They pass blocks of 512 elements through rings. A first thread that is not the CTA's, and barriers of each role.
// REQUIRES: ptxas
// RUN: tilec %s --start-after=cta-insert-waits -o %t.cubin 2>&1 | count 0
// RUN: tile-run %t.cubin n=512 --check | FileCheck %s
// RUN: tile-run %t.cubin n=9216 --check | FileCheck %s
// CHECK: check y == x * 2 + 1: ok
// CHECK: check ends == 7: ok

// RUN: tilec %s --start-after=cta-insert-waits --emit=ptx -o - | FileCheck %s --check-prefix=PTX
// PTX-DAG: bar.sync {{[[:space:]]*}}1, 128;
// PTX-DAG: bar.sync {{[[:space:]]*}}15, 128;
// PTX-DAG: bar.sync {{[[:space:]]*}}14, 64;

#x = #cta.layout<[512], register = [[1], [256]], lane = [[2], [4], [8], [16], [32]], warp = [[64], [128]]>
#half = #cta.layout<[512], register = [[1], [128], [256]], lane = [[2], [4], [8], [16], [32]], warp = [[64]]>
#s = #cta.layout<[512], offset = [[1], [2], [4], [8], [16], [32], [64], [128], [256]]>
!b = !cta.buffer<512xf32, #s>
!ring = !cta.ring<2 x [!b]>

tile.kernel @roles_of_warps(
    %px: !tile.ptr<f32> {tile.divisibility = 16 : i32, tile.name = "x"},
    %py: !tile.ptr<f32> {tile.divisibility = 16 : i32, tile.name = "y"},
    %pe: !tile.ptr<f32> {tile.divisibility = 16 : i32, tile.name = "ends"},
    %n: i32 {tile.divisibility = 512 : i32, tile.name = "n"})
    attributes {num_warps = 4 : i32, launch = #tile.launch<
      grid = ["cdiv(n, 2048)"],
      buffers = [<parameter = "x", shape = ["n"], role = random>, <parameter = "y", shape = ["n"], role = output>,
                 <parameter = "ends", shape = ["cdiv(n, 2048)"], role = output>],
      defaults = [<parameter = "n", value = "512">],
      expect = [<buffer = "y", expression = "x * 2 + 1", tolerance = 1.0e-6>, <buffer = "ends", expression = "7", tolerance = 0.0>]>} {
  %c512 = arith.constant 512 : i32
  %cta = tile.program_id 0
  %ctas = tile.num_programs 0
  %blocks = arith.divui %n, %c512 : i32
  %in = cta.ring_alloc : !ring
  %out = cta.ring_alloc : !ring
  cta.warp_roles role <compute, warps = 4> {
    %two = arith.constant dense<2.0> : tensor<512xf32, #x>
    %one = arith.constant dense<1.0> : tensor<512xf32, #x>
    scf.for %p = %cta to %blocks step %ctas : i32 {
      %si = cta.ring_wait %in : !ring
      %bi = cta.ring_buffers %in[%si] : !ring
      %v = cta.local_load %bi : !b -> tensor<512xf32, #x>
      cta.ring_release %in[%si] : !ring
      %twice = arith.mulf %v, %two : tensor<512xf32, #x>
      %w = arith.addf %twice, %one : tensor<512xf32, #x>
      %so = cta.ring_acquire %out : !ring
      %bo = cta.ring_buffers %out[%so] : !ring
      cta.local_store %w, %bo : tensor<512xf32, #x>, !b
      cta.ring_commit %out[%so] : !ring
    }
  } role <gather, warps = 4> {
    scf.for %p = %cta to %blocks step %ctas : i32 {
      %start = arith.muli %p, %c512 : i32
      %base = tile.addptr %px, %start : !tile.ptr<f32>, i32
      %range = tile.arange 0 to 512 : tensor<512xi32, #x>
      %bases = tile.splat %base : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>, #x>
      %places = tile.addptr %bases, %range : tensor<512x!tile.ptr<f32>, #x>, tensor<512xi32, #x>
      %s = cta.ring_acquire %in : !ring
      %b = cta.ring_buffers %in[%s] : !ring
      cta.async_copy %places, %b {vector = 2 : i32} : tensor<512x!tile.ptr<f32>, #x>, !b
      cta.async_commit
      cta.async_wait 0
      cta.ring_commit %in[%s] : !ring
    }
  } role <store, warps = 2> {
    scf.for %p = %cta to %blocks step %ctas : i32 {
      %start = arith.muli %p, %c512 : i32
      %base = tile.addptr %py, %start : !tile.ptr<f32>, i32
      %range = tile.arange 0 to 512 : tensor<512xi32, #half>
      %bases = tile.splat %base : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>, #half>
      %places = tile.addptr %bases, %range : tensor<512x!tile.ptr<f32>, #half>, tensor<512xi32, #half>
      %s = cta.ring_wait %out : !ring
      %b = cta.ring_buffers %out[%s] : !ring
      %v = cta.local_load %b : !b -> tensor<512xf32, #half>
      cta.ring_release %out[%s] : !ring
      tile.store %places, %v {vector = 2 : i32} : tensor<512x!tile.ptr<f32>, #half>
    }
    tile.barrier
    %seven = arith.constant 7.0 : f32
    %end = tile.addptr %pe, %cta : !tile.ptr<f32>, i32
    tile.store %end, %seven : !tile.ptr<f32>
  }
  tile.return
}
