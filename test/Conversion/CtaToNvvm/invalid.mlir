// An operation that the conversion cannot lower is one error.
// RUN: tile-opt %s --convert-cta-to-nvvm -split-input-file -verify-diagnostics

tile.kernel @descriptor(%p: !tile.ptr<f16>, %n: i32, %ld: i64) attributes {num_warps = 1 : i32} {
  // expected-error @+1 {{uses descriptor '!tile.desc<8x32xf16>'; run tile-expand-descriptors first}}
  %d = tile.make_desc %p, [%n, %n], [%ld, %ld] : !tile.ptr<f16> -> !tile.desc<8x32xf16>
  tile.return
}

// -----

tile.kernel @no_layout() attributes {num_warps = 1 : i32} {
  // expected-error @+1 {{uses 'tensor<32xi32>' without a layout; run cta-assign-layouts first}}
  %r = tile.arange 0 to 32 : tensor<32xi32>
  tile.return
}

// -----

tile.kernel @warps() attributes {num_warps = 4 : i32} {
  // expected-error @+1 {{uses a tensor laid out for 1 warps but the kernel has 4}}
  %r = tile.arange 0 to 32 : tensor<32xi32, #cta.layout<[32], register = [], lane = [[1], [2], [4], [8], [16]], warp = []>>
  tile.return
}

// -----

#a = #cta.layout<[32], register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
#b = #cta.layout<[32], register = [], lane = [[2], [1], [4], [8], [16]], warp = []>
tile.kernel @moves(%f: f64) attributes {num_warps = 1 : i32} {
  %r = tile.splat %f : f64 -> tensor<32xf64, #a>
  // expected-error @+1 {{moves elements between threads}}
  %s = cta.convert_layout %r : tensor<32xf64, #a> -> tensor<32xf64, #b>
  tile.return
}

// -----

tile.kernel @constant() attributes {num_warps = 1 : i32} {
  // expected-error @+1 {{has different values in different threads; only constants that are equal in all threads are supported}}
  %c = arith.constant dense<[1, 2]> : tensor<2xi32, #cta.layout<[2], register = [], lane = [[1], [0], [0], [0], [0]], warp = []>>
  tile.return
}

// -----

tile.kernel @power(%x: i32) attributes {num_warps = 1 : i32} {
  // expected-error @+1 {{has no lowering; multiply repeatedly or use math.fpowi}}
  %y = math.ipowi %x, %x : i32
  tile.return
}

// -----

#x = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32]]>
tile.kernel @over_warps() attributes {num_warps = 2 : i32} {
  %x = arith.constant dense<1.0> : tensor<64xf32, #x>
  // expected-error @+1 {{spreads the axis over warps; cta-lower-conversions should have split the reduction}}
  %s = tile.reduce %x {axis = 0 : i32} : tensor<64xf32, #x> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  tile.return
}

// -----

#x = #cta.layout<[2, 32], register = [[1, 1]], lane = [[1, 0], [0, 2], [0, 4], [0, 8], [0, 16]], warp = []>
#r = #cta.layout<[2], register = [[1]], lane = [[0], [0], [0], [0], [0]], warp = []>
tile.kernel @mixed() attributes {num_warps = 1 : i32} {
  %x = arith.constant dense<1.0> : tensor<2x32xf32, #x>
  // expected-error @+1 {{mixes the axis with other dimensions}}
  %s = tile.reduce %x {axis = 1 : i32} : tensor<2x32xf32, #x> -> tensor<2xf32, #r> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  tile.return
}

// -----

#x = #cta.layout<[2, 32], register = [[1, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = []>
#r = #cta.layout<[2], register = [], lane = [[1], [0], [0], [0], [0]], warp = []>
tile.kernel @elsewhere() attributes {num_warps = 1 : i32} {
  %x = arith.constant dense<true> : tensor<2x32xi1, #x>
  // expected-error @+1 {{leaves the results in threads other than those of the result's layout}}
  %s = tile.reduce %x {axis = 1 : i32} : tensor<2x32xi1, #x> -> tensor<2xi1, #r> {
  ^bb0(%a: i1, %b: i1):
    %c = arith.andi %a, %b : i1
    tile.yield %c : i1
  }
  tile.return
}

// -----

#x = #cta.layout<[64], register = [[32]], lane = [[1], [2], [4], [8], [16]], warp = []>
#y = #cta.layout<[64], register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = []>
tile.kernel @operands() attributes {num_warps = 1 : i32} {
  %x = arith.constant dense<1> : tensor<64xi32, #x>
  %y = arith.constant dense<1> : tensor<64xi32, #y>
  // expected-error @+1 {{differs from that of another operand}}
  %s, %t = tile.reduce %x, %y {axis = 0 : i32} : tensor<64xi32, #x>, tensor<64xi32, #y> -> i32, i32 {
  ^bb0(%a: i32, %b: i32, %c: i32, %d: i32):
    tile.yield %a, %b : i32, i32
  }
  tile.return
}

// -----

#x = #cta.layout<[64], register = [[32]], lane = [[1], [2], [4], [8], [16]], warp = []>
tile.kernel @out_of_order() attributes {num_warps = 1 : i32} {
  %x = arith.constant dense<1> : tensor<64xi32, #x>
  // expected-error @+1 {{does not hold the axis in the order in which it has to be combined}}
  %s = tile.reduce %x {axis = 0 : i32} : tensor<64xi32, #x> -> i32 {
  ^bb0(%a: i32, %b: i32):
    %c = arith.subi %a, %b : i32
    tile.yield %c : i32
  }
  tile.return
}

// -----

#x = #cta.layout<[32], register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
tile.kernel @reduce_f8() attributes {num_warps = 1 : i32} {
  %x = arith.constant dense<1.0> : tensor<32xf8E5M2, #x>
  // expected-error @+1 {{reduces 'f8E5M2'; convert it to a wider type first}}
  %s = tile.reduce %x {axis = 0 : i32} : tensor<32xf8E5M2, #x> -> f8E5M2 {
  ^bb0(%a: f8E5M2, %b: f8E5M2):
    tile.yield %a : f8E5M2
  }
  tile.return
}

// -----

#x = #cta.layout<[32], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[1]]>
#r = #cta.layout<[2], register = [], lane = [[0], [0], [0], [0], [0]], warp = [[1]]>
tile.kernel @repeated() attributes {num_warps = 2 : i32} {
  %x = arith.constant dense<1> : tensor<32xi32, #x>
  // expected-error @+1 {{repeats elements in other warps along the axis}}
  %s = cta.partial_reduce %x {axis = 0 : i32} : tensor<32xi32, #x> -> tensor<2xi32, #r> {
  ^bb0(%a: i32, %b: i32):
    tile.yield %a : i32
  }
  tile.return
}

// -----

#x = #cta.layout<[32, 16], register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [[16, 0]]>
#s = #cta.layout<[32, 16], offset = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 1], [0, 2], [0, 4], [0, 8]]>
tile.kernel @scattered(%p: !tile.ptr<f16>) attributes {num_warps = 2 : i32} {
  %ps = tile.splat %p : !tile.ptr<f16> -> tensor<32x16x!tile.ptr<f16>, #x>
  %b = cta.alloc at 0 : !cta.buffer<32x16xf16, #s>
  // expected-error @+1 {{moves 8 elements with one instruction, but their offsets in the buffer are not consecutive}}
  cta.async_copy %ps, %b {vector = 8 : i32} : tensor<32x16x!tile.ptr<f16>, #x>, !cta.buffer<32x16xf16, #s>
  tile.return
}

// -----

tile.kernel @unplaced() attributes {num_warps = 1 : i32} {
  // expected-error @+1 {{has no offset; run cta-allocate-shared first}}
  %b = cta.alloc : !cta.buffer<2xf16, #cta.layout<[2], offset = [[1]]>>
  tile.return
}

// -----

tile.kernel @misplaced() attributes {num_warps = 1 : i32} {
  // expected-error @+1 {{offset is 8 but must be a multiple of 16 bytes}}
  %b = cta.alloc at 8 : !cta.buffer<2xf16, #cta.layout<[2], offset = [[1]]>>
  tile.return
}

// -----

#a = #cta.layout<[16, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#b = #cta.layout<[16, 8], register = [[8, 0], [1, 0]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = []>
#c = #cta.layout<[16, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
tile.kernel @no_fragments() attributes {num_warps = 1 : i32} {
  %a = arith.constant dense<1.0> : tensor<16x16xf16, #a>
  %b = arith.constant dense<1.0> : tensor<16x8xf16, #b>
  %c = arith.constant dense<1.0> : tensor<16x8xf32, #c>
  // expected-error @+1 {{operands do not have the fragment layouts of m16n8k16}}
  %d = cta.mma_sync %a, %b, %c {shape = array<i32: 16, 8, 16>} : tensor<16x16xf16, #a>, tensor<16x8xf16, #b> -> tensor<16x8xf32, #c>
  tile.return
}

// -----

#acc = #cta.layout<[16, 16], register = [[1, 0], [0, 1], [8, 0]], lane = [[0, 2], [0, 4], [0, 8], [2, 0], [4, 0]], warp = []>
#s = #cta.layout<[16, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0]]>
tile.kernel @narrow() attributes {num_warps = 1 : i32} {
  %a = cta.alloc at 0 : !cta.buffer<16x16xf32, #s>
  %c = arith.constant dense<1.0> : tensor<16x16xf16, #acc>
  // expected-error @+1 {{cannot accumulate products of 'f32' in 'f16'}}
  %d = cta.fma_dot %a, %a, %c : !cta.buffer<16x16xf32, #s>, !cta.buffer<16x16xf32, #s> -> tensor<16x16xf16, #acc>
  tile.return
}

// -----

#x = #cta.layout<[64], register = [[32]], lane = [[1], [2], [4], [8], [16]], warp = []>
#y = #cta.layout<[64], register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = []>
tile.kernel @print() attributes {num_warps = 1 : i32} {
  %x = arith.constant dense<1> : tensor<64xi32, #x>
  %y = arith.constant dense<1> : tensor<64xi32, #y>
  // expected-error @+1 {{all tensors must have the same layout}}
  tile.print "" %x, %y : tensor<64xi32, #x>, tensor<64xi32, #y>
  tile.return
}

// -----

// A buffer of 48 rows is too small for 64 rows.
#s = #cta.layout<[64, 2], offset = [[0, 1], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0]]>
#x = #cta.layout<[64, 2], register = [[0, 1], [32, 0]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = []>
tile.kernel @padded() attributes {num_warps = 1 : i32} {
  %a = cta.alloc at 0 : !cta.buffer<48x2xf32, #s>
  // expected-error @+1 {{'cta.local_load' op accesses all elements of the layout of '!cta.buffer<48x2xf32, #cta.layout<[64, 2], offset = [[0, 1], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0]]>>', which has more than the buffer holds; only wgmma and TMA support sizes that are not powers of two}}
  %x = cta.local_load %a : !cta.buffer<48x2xf32, #s> -> tensor<64x2xf32, #x>
  tile.return
}

// -----

#x = #cta.layout<[32], register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
#s = #cta.layout<[32], offset = [[2], [1], [4], [8], [16]]>
tile.kernel @count_order(%i: i32) attributes {num_warps = 1 : i32} {
  %x = tile.splat %i : i32 -> tensor<32xi32, #x>
  %b = cta.alloc at 0 : !cta.buffer<32xi32, #s>
  // expected-error @+1 {{whose layout is not row-major}}
  cta.local_count %x, %b : tensor<32xi32, #x>, !cta.buffer<32xi32, #s>
  tile.return
}

// -----

#x = #cta.layout<[32], register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
#y = #cta.layout<[32], register = [[1]], lane = [[2], [4], [8], [16], [0]], warp = []>
tile.kernel @map_layouts(%f: f32) attributes {num_warps = 1 : i32} {
  %x = tile.splat %f : f32 -> tensor<32xf32, #x>
  // expected-error @+1 {{'tile.map' op has operands and results of different layouts; they must agree}}
  %y = tile.map %x : tensor<32xf32, #x> -> tensor<32xf32, #y> {
  ^bb0(%a: f32):
    tile.yield %a : f32
  }
  tile.return
}

// -----

#x = #cta.layout<[32], register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
tile.kernel @immediate(%n: i32) attributes {num_warps = 1 : i32} {
  %x = tile.splat %n : i32 -> tensor<32xi32, #x>
  // expected-error @+1 {{'tile.inline_asm' op has constraint 'n' for argument 1, which is not a constant integer}}
  %y = tile.inline_asm "shl.b32 $0, $1, $2;", "=r,r,n" pack 1 pure(%x, %x) : (tensor<32xi32, #x>, tensor<32xi32, #x>) -> tensor<32xi32, #x>
  tile.return
}

// -----

// expected-error @below {{is outside of a kernel; a module may have only kernels and LLVM operations}}
%x = arith.constant dense<1.0> : tensor<64xf32>

// -----

// A sum of f64 is not one of f32.
#a = #cta.layout<[16, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#b = #cta.layout<[16, 8], register = [[1, 0], [8, 0]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = []>
#c = #cta.layout<[16, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
tile.kernel @sums() attributes {num_warps = 1 : i32} {
  %a = arith.constant dense<1.0> : tensor<16x16xf16, #a>
  %b = arith.constant dense<1.0> : tensor<16x8xf16, #b>
  %c = arith.constant dense<1.0> : tensor<16x8xf64, #c>
  // expected-error @+1 {{is m16n8k16 of 'f16' and 'f16' into 'f64', which sm_90a does not support}}
  %d = cta.mma_sync %a, %b, %c {shape = array<i32: 16, 8, 16>} : tensor<16x16xf16, #a>, tensor<16x8xf16, #b> -> tensor<16x8xf64, #c>
  tile.return
}

// -----

#scan = #cta.layout<[128], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]]>

tile.kernel @whole_scan(%f: f32) {
  %x = tile.splat %f : f32 -> tensor<128xf32, #scan>
  // expected-error @below {{spreads the axis over warps}}
  %y = tile.scan %x {axis = 0 : i32} : tensor<128xf32, #scan> -> tensor<128xf32, #scan> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  tile.return
}

// -----

#scan = #cta.layout<[128], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]]>
#total = #cta.layout<[4], register = [], lane = [[0], [0], [0], [0], [0]], warp = [[1], [2]]>

// Each thread needs the totals of all warps.
tile.kernel @own_total(%f: f32) {
  %x = tile.splat %f : f32 -> tensor<128xf32, #scan>
  %t = tile.splat %f : f32 -> tensor<4xf32, #total>
  // expected-error @below {{that are not those of 4 warps along axis 0 in the threads that need them}}
  %y = cta.scan_carry %x, %t {axis = 0 : i32} : tensor<128xf32, #scan>, tensor<4xf32, #total> -> tensor<128xf32, #scan> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  tile.return
}
