// A view that is made before its block is loaded is not one of an awaited slot: the block keeps its synchronous load.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-lower-conversions,cta-specialize-warps))' -o - | FileCheck %s
// CHECK: cta.trans_buffer
// CHECK: cta.tma_load_sync
module {
  tile.kernel @linear_backward_weight(%arg0: !tile.ptr<f16> {tile.divisibility = 16 : i32, tile.name = "x"}, %arg1: !tile.ptr<f16> {tile.divisibility = 16 : i32, tile.name = "dy"}, %arg2: !tile.ptr<f16> {tile.divisibility = 16 : i32, tile.name = "dw"}, %arg3: !tile.ptr<f32> {tile.divisibility = 16 : i32, tile.name = "db"}, %arg4: i32 {tile.divisibility = 1 : i32, tile.name = "M"}, %arg5: i32 {tile.divisibility = 8 : i32, tile.name = "N"}, %arg6: i32 {tile.divisibility = 8 : i32, tile.name = "K"}, %arg7: !tile.desc<64x64xf16> {tile.tensor_map = #tile.tensor_map<base = "x", shape = ["M", "K"], strides = ["K"], box = [64, 64], swizzle = 128>}, %arg8: !tile.desc<64x64xf16> {tile.tensor_map = #tile.tensor_map<base = "dy", shape = ["M", "N"], strides = ["N"], box = [64, 64], swizzle = 128>}, %arg9: !tile.desc<64x64xf16> {tile.tensor_map = #tile.tensor_map<base = "dw", shape = ["K", "N"], strides = ["N"], box = [64, 64], swizzle = 128>}, %arg10: i32 {tile.grid_size = 0 : i32}, %arg11: i32 {tile.grid_size = 1 : i32}, %arg12: i32 {tile.grid_size = 2 : i32}) attributes {cluster_ctas = 1 : i32, constants = {BLOCK_K = 64 : i64, BLOCK_M = 64 : i64, BLOCK_N = 64 : i64}, num_stages = 3 : i32, num_warps = 4 : i32} {
    %c64_i32 = arith.constant 64 : i32
    %cst = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #cta.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>>
    %c0_i32 = arith.constant 0 : i32
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<64xf32, #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>>
    %1 = arith.muli %arg10, %arg11 : i32
    %2 = arith.muli %1, %arg12 : i32
    %3 = tile.program_id 0
    %4 = tile.num_programs 0
    scf.for %arg13 = %3 to %2 step %4  : i32 {
      %5 = arith.remui %arg13, %arg10 : i32
      %8 = arith.muli %5, %c64_i32 : i32
      %10 = scf.for %arg14 = %c0_i32 to %arg4 step %c64_i32 iter_args(%arg15 = %cst) -> (tensor<64x64xf32, #cta.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>>)  : i32 {
        %14 = cta.alloc : <64x64xf16, #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>>
        %15 = cta.mbarrier_alloc arrivals 1 : <1>
        %16 = cta.trans_buffer %14 : <64x64xf16, #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>> -> <64x64xf16, #cta.layout<[64, 64], offset = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0], [8, 1], [16, 2], [32, 4], [0, 8], [0, 16], [0, 32]]>>
        cta.tma_load_sync %arg7[%arg14, %8], %14, %15 : <64x64xf16>, <64x64xf16, #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>>, <1>
        %17 = cta.alloc : <64x64xf16, #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>>
        %19, %t19 = cta.wgmma %16, %17, %arg15 {n = 64 : i32} : !cta.buffer<64x64xf16, #cta.layout<[64, 64], offset = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0], [8, 1], [16, 2], [32, 4], [0, 8], [0, 16], [0, 32]]>>, <64x64xf16, #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>> -> tensor<64x64xf32, #cta.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>>
        %20 = cta.await %19 after %t19 : tensor<64x64xf32, #cta.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>>
        scf.yield %20 : tensor<64x64xf32, #cta.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>>
      }
      %13 = arith.cmpi eq, %8, %c0_i32 : i32
      scf.if %13 {
        %14 = scf.for %arg14 = %c0_i32 to %arg4 step %c64_i32 iter_args(%arg15 = %cst_0) -> (tensor<64xf32, #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>>)  : i32 {
          %22 = cta.alloc : <64x64xf16, #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>>
          %24 = cta.local_load %22 : <64x64xf16, #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>> -> tensor<64x64xf16, #cta.layout<[64, 64], register = [[2, 0], [4, 0], [8, 0], [16, 0], [32, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[0, 32], [1, 0]]>>
          %25 = arith.extf %24 : tensor<64x64xf16, #cta.layout<[64, 64], register = [[2, 0], [4, 0], [8, 0], [16, 0], [32, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[0, 32], [1, 0]]>> to tensor<64x64xf32, #cta.layout<[64, 64], register = [[2, 0], [4, 0], [8, 0], [16, 0], [32, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[0, 32], [1, 0]]>>
          %26 = tile.reduce %25 {axis = 0 : i32} : tensor<64x64xf32, #cta.layout<[64, 64], register = [[2, 0], [4, 0], [8, 0], [16, 0], [32, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[0, 32], [1, 0]]>> -> tensor<64xf32, #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>> {
          ^bb0(%arg16: f32, %arg17: f32):
            %28 = arith.addf %arg16, %arg17 : f32
            tile.yield %28 : f32
          }
          %27 = arith.addf %arg15, %26 : tensor<64xf32, #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>>
          scf.yield %27 : tensor<64xf32, #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>>
        }
      }
    }
    tile.return
  }
}
