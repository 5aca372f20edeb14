// Four roles, written by hand, compute the 64x64 tiles of c = a @ transpose(b): one thread copies a, and one copies b,
// each into a separate ring; a warp group multiplies, and passes its tiles through a third ring to a thread that stores
// them. One step, several tiles per CTA, more steps than slots, none, and tiles at the edge.
// REQUIRES: ptxas
// RUN: tilec %s --start-after=cta-multicast -o %t.cubin 2>&1 | count 0
// RUN: tile-run describe %t.cubin | FileCheck %s --check-prefix=THREADS
// RUN: tile-run %t.cubin M=768 N=768 K=64 --check | FileCheck %s
// RUN: tile-run %t.cubin M=1000 N=1208 K=200 --check | FileCheck %s
// RUN: tile-run %t.cubin M=100 N=200 K=504 --check | FileCheck %s
// RUN: tile-run %t.cubin M=1000 N=1208 K=0 --check | FileCheck %s
// THREADS: "threads_per_cta": 512
// THREADS: "spill_bytes": 0
// CHECK: check c == a @ b: ok

// The arrivals that a ring's barriers expect depend on who fills and reads it: one thread, or each of four warps.
// RUN: tilec %s --start-after=cta-multicast --stop-after=cta-lower-rings --emit=cta -o - | FileCheck %s --check-prefix=RINGS
// RINGS-COUNT-2: mbarrier_alloc arrivals 1 : <3>{{[[:space:]].*}}mbarrier_alloc arrivals 4 : <3>
// RINGS: mbarrier_alloc arrivals 4 : <2>
// RINGS-NEXT: mbarrier_alloc arrivals 1 : <2>

#acc = #cta.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#rows = #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
#columns = #cta.layout<[64, 64], offset = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0], [8, 1], [16, 2], [32, 4], [0, 8], [0, 16], [0, 32]]>
!desc = !tile.desc<64x64xf16>
!slab = !cta.buffer<64x64xf16, #rows>
!trans = !cta.buffer<64x64xf16, #columns>
!operands = !cta.ring<3 x [!slab]>
!results = !cta.ring<2 x [!slab]>
!acc = tensor<64x64xf32, #acc>

tile.kernel @four_roles(
    %pa: !tile.ptr<f16> {tile.divisibility = 16 : i32, tile.name = "a"},
    %pb: !tile.ptr<f16> {tile.divisibility = 16 : i32, tile.name = "b"},
    %pc: !tile.ptr<f16> {tile.divisibility = 16 : i32, tile.name = "c"},
    %M: i32 {tile.divisibility = 1 : i32, tile.name = "M"}, %N: i32 {tile.divisibility = 8 : i32, tile.name = "N"},
    %K: i32 {tile.divisibility = 8 : i32, tile.name = "K"},
    %a: !desc {tile.tensor_map = #tile.tensor_map<base = "a", shape = ["M", "K"], strides = ["K"], box = [64, 64], swizzle = 128>},
    %b: !desc {tile.tensor_map = #tile.tensor_map<base = "b", shape = ["N", "K"], strides = ["K"], box = [64, 64], swizzle = 128>},
    %c: !desc {tile.tensor_map = #tile.tensor_map<base = "c", shape = ["M", "N"], strides = ["N"], box = [64, 64], swizzle = 128>},
    %gridM: i32 {tile.grid_size = 0 : i32}, %gridN: i32 {tile.grid_size = 1 : i32}, %gridZ: i32 {tile.grid_size = 2 : i32})
    attributes {num_warps = 4 : i32, launch = #tile.launch<
      grid = ["cdiv(M, 64)", "cdiv(N, 64)"],
      buffers = [<parameter = "a", shape = ["M", "K"], role = random>,
                 <parameter = "b", shape = ["K", "N"], strides = ["1", "K"], role = random>,
                 <parameter = "c", shape = ["M", "N"], role = output>],
      defaults = [<parameter = "M", value = "768">, <parameter = "N", value = "768">, <parameter = "K", value = "64">],
      expect = [<buffer = "c", expression = "a @ b", tolerance = 1.0e-3>]>} {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : !acc
  %as = cta.ring_alloc : !operands
  %bs = cta.ring_alloc : !operands
  %cs = cta.ring_alloc : !results
  cta.warp_roles role <multiply, warps = 4, registers = 160> {
    tile.programs (%i, %j, %z, %exists) in (%gridM, %gridN, %gridZ) #tile.work<order = grid> {
      %sum = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (!acc) : i32 {
        %sa = cta.ring_wait %as : !operands
        %ak = cta.ring_buffers %as[%sa] : !operands
        %sb = cta.ring_wait %bs : !operands
        %bk = cta.ring_buffers %bs[%sb] : !operands
        %tk = cta.trans_buffer %bk : !slab -> !trans
        %d, %token = cta.wgmma %ak, %tk, %acc {n = 64 : i32} : !slab, !trans -> !acc
        %r = cta.await %d after %token : !acc
        cta.ring_release %as[%sa] after %token : !operands
        cta.ring_release %bs[%sb] after %token : !operands
        scf.yield %r : !acc
      }
      %y = arith.truncf %sum : !acc to tensor<64x64xf16, #acc>
      %sc = cta.ring_acquire %cs : !results
      %tile = cta.ring_buffers %cs[%sc] : !results
      cta.local_store %y, %tile : tensor<64x64xf16, #acc>, !slab
      cta.ring_commit %cs[%sc] : !results
    }
  } role <load_a, warps = 4, registers = 24, one_thread> {
    tile.programs (%i, %j, %z, %exists) in (%gridM, %gridN, %gridZ) #tile.work<order = grid> {
      %row = arith.muli %i, %c64 : i32
      scf.for %k = %c0 to %K step %c64 : i32 {
        %s = cta.ring_acquire %as : !operands
        %buffer = cta.ring_buffers %as[%s] : !operands
        cta.tma_load %a[%row, %k], %buffer, %as[%s] : !desc, !slab, !operands
        cta.ring_commit %as[%s] : !operands
      }
    }
  } role <load_b, warps = 4, registers = 24, one_thread> {
    tile.programs (%i, %j, %z, %exists) in (%gridM, %gridN, %gridZ) #tile.work<order = grid> {
      %column = arith.muli %j, %c64 : i32
      scf.for %k = %c0 to %K step %c64 : i32 {
        %s = cta.ring_acquire %bs : !operands
        %buffer = cta.ring_buffers %bs[%s] : !operands
        cta.tma_load %b[%column, %k], %buffer, %bs[%s] : !desc, !slab, !operands
        cta.ring_commit %bs[%s] : !operands
      }
    }
  } role <store, warps = 4, registers = 24, one_thread> {
    tile.programs (%i, %j, %z, %exists) in (%gridM, %gridN, %gridZ) #tile.work<order = grid> {
      %row = arith.muli %i, %c64 : i32
      %column = arith.muli %j, %c64 : i32
      %s = cta.ring_wait %cs : !results
      %tile = cta.ring_buffers %cs[%s] : !results
      cta.tma_store %tile, %c[%row, %column] : !slab, !desc
      cta.tma_store_wait 0
      cta.ring_release %cs[%s] : !results
    }
  }
  tile.return
}
