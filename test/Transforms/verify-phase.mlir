// The last phase; the others are in verify-phase-tile, -layout and -async. One error a kernel, the first has none.
// RUN: tile-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tile.kernel(tile-verify-phase{phase=allocated}))'

#x = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>
#y = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [32]], warp = [[16], [0]]>
#s = #cta.layout<[64], offset = [[1], [2], [4], [8], [16], [32]]>

tile.kernel @good() attributes {shared_bytes = 256 : i64} {
  %v = arith.constant dense<0.0> : tensor<64xf32, #x>
  %b = cta.alloc at 0 : !cta.buffer<64xf32, #s>
  cta.local_store %v, %b : tensor<64xf32, #x>, !cta.buffer<64xf32, #s>
  cta.barrier
  %w = cta.local_load %b : !cta.buffer<64xf32, #s> -> tensor<64xf32, #y>
  tile.return
}

// -----

#x = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>
#s = #cta.layout<[64], offset = [[1], [2], [4], [8], [16], [32]]>

tile.kernel @no_barrier() attributes {shared_bytes = 256 : i64} {
  %v = arith.constant dense<0.0> : tensor<64xf32, #x>
  %b = cta.alloc at 0 : !cta.buffer<64xf32, #s>
  cta.local_store %v, %b : tensor<64xf32, #x>, !cta.buffer<64xf32, #s>
  // expected-error @below {{phase allocated: access to shared memory races with an earlier one of another thread; a cta.barrier is missing}}
  %w = cta.local_load %b : !cta.buffer<64xf32, #s> -> tensor<64xf32, #x>
  tile.return
}

// -----

// expected-error @below {{phase allocated: the kernel has no shared_bytes}}
tile.kernel @no_total() {
  tile.return
}

// -----

#x = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>
#s = #cta.layout<[64], offset = [[1], [2], [4], [8], [16], [32]]>

tile.kernel @no_offset() attributes {shared_bytes = 256 : i64} {
  %b = cta.alloc : !cta.buffer<64xf32, #s>
  // expected-error @below {{phase allocated: buffer has no offset}}
  %w = cta.local_load %b : !cta.buffer<64xf32, #s> -> tensor<64xf32, #x>
  tile.return
}

// -----

#x = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>
#y = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [32]], warp = [[16], [0]]>

tile.kernel @conversion() attributes {shared_bytes = 0 : i64} {
  %v = arith.constant dense<0.0> : tensor<64xf32, #x>
  // expected-error @below {{phase allocated: conversion moves elements between threads}}
  %w = cta.convert_layout %v : tensor<64xf32, #x> -> tensor<64xf32, #y>
  tile.return
}

// -----

#x = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>

tile.kernel @reduction() attributes {shared_bytes = 0 : i64} {
  %v = arith.constant dense<0.0> : tensor<64xf32, #x>
  // expected-error @below {{phase allocated: axis 0 of the reduction is spread over warps}}
  %s = tile.reduce %v {axis = 0 : i32} : tensor<64xf32, #x> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  tile.return
}

// -----

#x = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>

tile.kernel @butterfly() attributes {shared_bytes = 0 : i64} {
  %v = arith.constant dense<0.0> : tensor<64xf32, #x>
  %near = tile.butterfly %v {axis = 0 : i32, distance = 16 : i32} : tensor<64xf32, #x>
  // expected-error @below {{phase allocated: elements at distance 48 are in other warps}}
  %w = tile.butterfly %near {axis = 0 : i32, distance = 48 : i32} : tensor<64xf32, #x>
  tile.return
}

// -----

#x = #cta.layout<[32, 32], register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = [[8, 0], [16, 0]]>

tile.kernel @dot() attributes {shared_bytes = 0 : i64} {
  %v = arith.constant dense<0.0> : tensor<32x32xf32, #x>
  // expected-error @below {{phase allocated: 'tile.dot' does not belong to this phase}}
  %d = tile.dot %v, %v, %v : tensor<32x32xf32, #x>, tensor<32x32xf32, #x> -> tensor<32x32xf32, #x>
  tile.return
}

// -----

#q = #cta.layout<[64, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8], [8, 0], [16, 0], [32, 0]]>
#k = #cta.layout<[16, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8], [8, 0]]>
#c = #cta.layout<[64, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>

tile.kernel @in_flight() attributes {shared_bytes = 4096 : i64} {
  %zero = arith.constant dense<0.0> : tensor<64x16xf32, #c>
  %q = cta.alloc at 0 : !cta.buffer<64x16xf16, #q>
  %k = cta.alloc at 2048 : !cta.buffer<16x16xf16, #k>
  %a, %ta = cta.wgmma %q, %k, %zero {n = 16 : i32} : !cta.buffer<64x16xf16, #q>, !cta.buffer<16x16xf16, #k> -> tensor<64x16xf32, #c>
  %b, %tb = cta.wgmma %q, %k, %zero {n = 16 : i32} : !cta.buffer<64x16xf16, #q>, !cta.buffer<16x16xf16, #k> -> tensor<64x16xf32, #c>
  // expected-error @below {{phase allocated: 'cta.await' uses an accumulator before its wgmma has completed; a cta.wgmma_wait of 1 pending is missing}}
  %x = cta.await %a after %ta : tensor<64x16xf32, #c>
  tile.return
}
