// Two teams of warps that alternate between the 64x64 tiles of c = a @ transpose(b), written by hand: the result of
// cta-ping-pong for the same kernel with one team. 768x768x64 has more tiles than an H200 has multiprocessors; then one
// step, none, more steps than slots, odd numbers of tiles per CTA and tiles at the edge.
// REQUIRES: ptxas
// RUN: tilec %s --start-after=cta-ping-pong -o %t.cubin 2>&1 | count 0
// RUN: tile-run describe %t.cubin | FileCheck %s --check-prefix=THREADS
// RUN: tile-run %t.cubin M=768 N=768 K=64 --check | FileCheck %s
// RUN: tile-run %t.cubin M=1400 N=1400 K=520 --check | FileCheck %s
// RUN: tile-run %t.cubin M=1000 N=1208 K=200 --check | FileCheck %s
// RUN: tile-run %t.cubin M=100 N=200 K=304 --check | FileCheck %s
// RUN: tile-run %t.cubin M=1000 N=1208 K=0 --check | FileCheck %s
// THREADS: "threads_per_cta": 384
// THREADS: "spill_bytes": 0
// CHECK: check c == a @ b: ok

#acc = #cta.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#rows = #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
#columns = #cta.layout<[64, 64], offset = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0], [8, 1], [16, 2], [32, 4], [0, 8], [0, 16], [0, 32]]>
!desc = !tile.desc<64x64xf16>
!slab = !cta.buffer<64x64xf16, #rows>
!trans = !cta.buffer<64x64xf16, #columns>
!ring = !cta.buffer<64x64xf16, #rows, slots = 4>
!panels = !cta.buffer<64x64xf16, #rows, slots = 2>
!slots = !cta.mbarrier<4>
!teams = !cta.mbarrier<2>
!acc = tensor<64x64xf32, #acc>

tile.kernel @ping_pong(
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
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %c63 = arith.constant 63 : i32
  %c64 = arith.constant 64 : i32
  %none = arith.constant -1 : i32
  %zero = arith.constant dense<0.0> : !acc
  %as = cta.alloc : !ring
  %bs = cta.alloc : !ring
  %full = cta.mbarrier_alloc arrivals 1 : !slots
  %empty = cta.mbarrier_alloc arrivals 4 : !slots // the warps of the team that read the slot
  %order = cta.mbarrier_alloc arrivals 4 : !teams // one barrier for each team, at which the other's warps arrive
  %cs = cta.alloc : !panels                       // a panel for each team
  cta.warp_roles role <consumer, warps = 4, teams = 2, registers = 232> {
    %team = cta.team
    %other = arith.xori %team, %c1 : i32
    %panel = cta.slot %cs[%team] : !panels -> !slab
    %tiles = arith.muli %gridM, %gridN : i32
    %ceil = arith.addi %K, %c63 : i32
    %steps = arith.divui %ceil, %c64 : i32
    // Tiles of this team: those of the CTA number team, team + 2, …
    %cta = tile.program_id 0
    %ctas = tile.num_programs 0
    %distance = arith.muli %team, %ctas : i32
    %first = arith.addi %cta, %distance : i32
    %stride = arith.muli %ctas, %c2 : i32
    // A step's slot is its number modulo 4, and its phase's parity that of the number divided by 4. The second team begins
    // after the first tile's steps.
    %begin = arith.muli %team, %steps : i32
    // A new barrier has completed a phase of parity 1: the first team need not wait for its first turn.
    scf.for %p = %first to %tiles step %stride iter_args(%step0 = %begin, %turn = %other) -> (i32, i32) : i32 {
      %i = arith.remui %p, %gridM : i32
      %j = arith.divui %p, %gridM : i32
      %row = arith.muli %i, %c64 : i32
      %column = arith.muli %j, %c64 : i32
      %any = arith.cmpi sgt, %steps, %c0 : i32
      %end = arith.addi %step0, %steps : i32
      cta.mbarrier_wait %order[%team], %turn : !teams
      %sum = scf.if %any -> (!acc) {
        // One MMA stays in flight; the slot of the previous one is released. The first one does not read the accumulator.
        %start = cta.undefined : !acc
        %no_token = cta.token_none
        %d, %last, %token = scf.for %step = %step0 to %end step %c1 iter_args(%acc = %start, %previous = %none, %before = %no_token) -> (!acc, i32, !cta.token) : i32 {
          %later = arith.cmpi ne, %previous, %none : i32
          %slot = arith.andi %step, %c3 : i32
          %phase = arith.divui %step, %c4 : i32
          %parity = arith.andi %phase, %c1 : i32
          cta.mbarrier_wait %full[%slot], %parity : !slots
          %ak = cta.slot %as[%slot] : !ring -> !slab
          %bk = cta.slot %bs[%slot] : !ring -> !slab
          %tk = cta.trans_buffer %bk : !slab -> !trans
          %dk, %dk_t = cta.wgmma %ak, %tk, %acc if %later {n = 64 : i32} : !slab, !trans -> !acc
          cta.wgmma_wait {pending = 1 : i32}
          cta.mbarrier_arrive %empty[%previous] if %later : !slots
          scf.yield %dk, %slot, %dk_t : !acc, i32, !cta.token
        }
        // The last MMA has been issued: those of the other team can follow while this one ends.
        cta.mbarrier_arrive %order[%other] : !teams
        %r = cta.await %d after %token : !acc
        cta.mbarrier_arrive %empty[%last] : !slots
        scf.yield %r : !acc
      } else {
        cta.mbarrier_arrive %order[%other] : !teams
        scf.yield %zero : !acc
      }
      // The epilogue overlaps with the other team's MMAs.
      %y = arith.truncf %sum : !acc to tensor<64x64xf16, #acc>
      cta.tma_store_wait 0
      cta.local_store %y, %panel : tensor<64x64xf16, #acc>, !slab
      cta.proxy_fence
      cta.tma_store %panel, %c[%row, %column] : !slab, !desc
      // The steps of the next tile belong to the other team.
      %next = arith.addi %end, %steps : i32
      %nextTurn = arith.xori %turn, %c1 : i32
      scf.yield %next, %nextTurn : i32, i32
    }
    cta.tma_store_wait 0
  } role <producer, warps = 4, registers = 40, one_thread> {
    // Copies for both teams, tile by tile.
    %tiles = arith.muli %gridM, %gridN : i32
    %cta = tile.program_id 0
    %ctas = tile.num_programs 0
    %ceil = arith.addi %K, %c63 : i32
    %steps = arith.divui %ceil, %c64 : i32
    scf.for %p = %cta to %tiles step %ctas iter_args(%step0 = %c0) -> (i32) : i32 {
      %i = arith.remui %p, %gridM : i32
      %j = arith.divui %p, %gridM : i32
      %row = arith.muli %i, %c64 : i32
      %column = arith.muli %j, %c64 : i32
      scf.for %k = %c0 to %steps step %c1 : i32 {
        %step = arith.addi %step0, %k : i32
        %slot = arith.andi %step, %c3 : i32
        %phase = arith.divui %step, %c4 : i32
        %before = arith.addi %phase, %c1 : i32
        %parity = arith.andi %before, %c1 : i32
        %kk = arith.muli %k, %c64 : i32
        cta.mbarrier_wait %empty[%slot], %parity : !slots
        cta.mbarrier_expect %full[%slot], 16384 : !slots
        %ak = cta.slot %as[%slot] : !ring -> !slab
        cta.tma_load %a[%row, %kk], %ak, %full[%slot] : !desc, !slab, !slots
        %bk = cta.slot %bs[%slot] : !ring -> !slab
        cta.tma_load %b[%column, %kk], %bk, %full[%slot] : !desc, !slab, !slots
      }
      %end = arith.addi %step0, %steps : i32
      scf.yield %end : i32
    }
  }
  tile.return
}
