// wgmma: the constants of matrix descriptors (PTX ISA, "Matrix descriptor"), the instructions and waits.
// RUN: tile-opt %s --convert-cta-to-nvvm --canonicalize | FileCheck %s

// High word: swizzle (bits 30, 31: 128 bytes 1, 64 bytes 2, 32 bytes 3), stride offset / 16; low word: leading offset / 16
// in bits 16 to 29.
#acc = #cta.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#k128 = #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
#t128 = #cta.layout<[64, 64], offset = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0], [8, 1], [16, 2], [32, 4], [0, 8], [0, 16], [0, 32]]>
#k64 = #cta.layout<[64, 32], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 8], [4, 16], [8, 0], [16, 0], [32, 0]]>
#t64 = #cta.layout<[32, 64], offset = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 1], [8, 2], [16, 4], [0, 8], [0, 16], [0, 32]]>
#k32 = #cta.layout<[64, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8], [8, 0], [16, 0], [32, 0]]>
#t32 = #cta.layout<[16, 64], offset = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 1], [0, 2], [8, 4], [0, 8], [0, 16], [0, 32]]>
#m128 = #cta.layout<[64, 32], offset = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0], [8, 1], [16, 2], [32, 4], [0, 8], [0, 16]]>
#n128 = #cta.layout<[32, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0]]>
#n64 = #cta.layout<[32, 32], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 8], [4, 16], [8, 0], [16, 0]]>
#acc32 = #cta.layout<[64, 32], register = [[0, 1], [8, 0], [0, 8], [0, 16]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#n32 = #cta.layout<[32, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8], [8, 0], [16, 0]]>
#acc16 = #cta.layout<[64, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#tall = #cta.layout<[128, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8], [8, 0], [16, 0], [32, 0], [64, 0]]>
#accs = #cta.layout<[128, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [64, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#n160 = #cta.layout<[64, 256], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 8], [4, 16], [8, 0], [16, 0], [32, 0], [0, 32], [0, 64], [0, 128]]>
#acc256 = #cta.layout<[64, 256], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#bytes = #cta.layout<[64, 32], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 0], [4, 16], [8, 0], [16, 0], [32, 0]]>
#bytest = #cta.layout<[32, 64], offset = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 1], [0, 2], [16, 4], [0, 8], [0, 16], [0, 32]]>

// k contiguous: 8 rows of 128 bytes are 1024 bytes; 4 steps of 32 bytes, one group.
// CHECK-LABEL: llvm.func @k_contiguous_128
// CHECK-NOT: ptxas_level
// CHECK-DAG: arith.constant 4611686293305294848 : i64
// CHECK-DAG: arith.constant 65536 : i32
// CHECK: llvm.inline_asm {{.*}}wgmma.fence.sync.aligned;\0Awgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {{.*}}, $38, $39, always, 1, 1, 0, 0;\0Awgmma.commit_group.sync.aligned
// CHECK: llvm.inline_asm {{.*}} "wgmma.wait_group.sync.aligned 0;"
tile.kernel @k_contiguous_128() attributes {shared_bytes = 32768 : i64} {
  %a = cta.alloc at 0 : !cta.buffer<64x64xf16, #k128>
  %b = cta.alloc at 16384 : !cta.buffer<64x64xf16, #t128>
  %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %d, %d_t = cta.wgmma %a, %b, %z {n = 64 : i32} : !cta.buffer<64x64xf16, #k128>, !cta.buffer<64x64xf16, #t128> -> tensor<64x64xf32, #acc>
  cta.wgmma_wait {pending = 0 : i32}
  %r = cta.await %d after %d_t : tensor<64x64xf32, #acc>
  tile.print "" %r : tensor<64x64xf32, #acc>
  tile.return
}

// k contiguous: 8 rows of 64 bytes are 512 bytes; 2 steps of 32 bytes, one group.
// CHECK-LABEL: llvm.func @k_contiguous_64
// CHECK-DAG: arith.constant -9223371899415822336 : i64
// CHECK-DAG: arith.constant 65536 : i32
// CHECK: llvm.inline_asm {{.*}}wgmma.fence.sync.aligned;\0Awgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {{.*}}, $34, $35, always, 1, 1, 0, 0;\0Awgmma.commit_group.sync.aligned
// CHECK: llvm.inline_asm {{.*}} "wgmma.wait_group.sync.aligned 0;"
tile.kernel @k_contiguous_64() attributes {shared_bytes = 32768 : i64} {
  %a = cta.alloc at 0 : !cta.buffer<64x32xf16, #k64>
  %b = cta.alloc at 16384 : !cta.buffer<32x64xf16, #t64>
  %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %d, %d_t = cta.wgmma %a, %b, %z {n = 64 : i32} : !cta.buffer<64x32xf16, #k64>, !cta.buffer<32x64xf16, #t64> -> tensor<64x64xf32, #acc>
  cta.wgmma_wait {pending = 0 : i32}
  %r = cta.await %d after %d_t : tensor<64x64xf32, #acc>
  tile.print "" %r : tensor<64x64xf32, #acc>
  tile.return
}

// k contiguous: 8 rows of 32 bytes are 256 bytes; 1 steps of 32 bytes, one group. Zeros are not read.
// CHECK-LABEL: llvm.func @k_contiguous_32
// CHECK-DAG: arith.constant -4611685949707911168 : i64
// CHECK-DAG: arith.constant 65536 : i32
// CHECK: llvm.inline_asm {{.*}}wgmma.fence.sync.aligned;\0Awgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {{.*}}, $32, $33, never, 1, 1, 0, 0;\0Awgmma.commit_group.sync.aligned
// CHECK: llvm.inline_asm {{.*}} "wgmma.wait_group.sync.aligned 0;"
tile.kernel @k_contiguous_32() attributes {shared_bytes = 32768 : i64} {
  %a = cta.alloc at 0 : !cta.buffer<64x16xf16, #k32>
  %b = cta.alloc at 16384 : !cta.buffer<16x64xf16, #t32>
  %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %d, %d_t = cta.wgmma %a, %b, %z {n = 64 : i32} : !cta.buffer<64x16xf16, #k32>, !cta.buffer<16x64xf16, #t32> -> tensor<64x64xf32, #acc>
  cta.wgmma_wait {pending = 0 : i32}
  %r = cta.await %d after %d_t : tensor<64x64xf32, #acc>
  tile.print "" %r : tensor<64x64xf32, #acc>
  tile.return
}

// m and n contiguous: 8 rows along k of 128 bytes for b, of 128 bytes for a.
// CHECK-LABEL: llvm.func @n_contiguous_128
// CHECK-DAG: arith.constant 4611686293305294848 : i64
// CHECK-DAG: arith.constant 16777216 : i32
// CHECK: llvm.inline_asm {{.*}}wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {{.*}}, 1, 1, 1, 1;{{.*}}wgmma.mma_async{{.*}}, 1, 1, 1, 1;
tile.kernel @n_contiguous_128() attributes {shared_bytes = 32768 : i64} {
  %a = cta.alloc at 0 : !cta.buffer<64x32xf16, #m128>
  %b = cta.alloc at 16384 : !cta.buffer<32x64xf16, #n128>
  %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %d, %d_t = cta.wgmma %a, %b, %z {n = 64 : i32} : !cta.buffer<64x32xf16, #m128>, !cta.buffer<32x64xf16, #n128> -> tensor<64x64xf32, #acc>
  cta.wgmma_wait {pending = 0 : i32}
  %r = cta.await %d after %d_t : tensor<64x64xf32, #acc>
  tile.print "" %r : tensor<64x64xf32, #acc>
  tile.return
}

// m and n contiguous: 8 rows along k of 64 bytes for b, of 128 bytes for a.
// CHECK-LABEL: llvm.func @n_contiguous_64
// CHECK-DAG: arith.constant 4611686293305294848 : i64
// CHECK-DAG: arith.constant -9223371899415822336 : i64
// CHECK-DAG: arith.constant 16777216 : i32
// CHECK-DAG: arith.constant 8388608 : i32
// CHECK: llvm.inline_asm {{.*}}wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {{.*}}, 1, 1, 1, 1;{{.*}}wgmma.mma_async{{.*}}, 1, 1, 1, 1;
tile.kernel @n_contiguous_64() attributes {shared_bytes = 32768 : i64} {
  %a = cta.alloc at 0 : !cta.buffer<64x32xf16, #m128>
  %b = cta.alloc at 16384 : !cta.buffer<32x32xf16, #n64>
  %z = arith.constant dense<0.0> : tensor<64x32xf32, #acc32>
  %d, %d_t = cta.wgmma %a, %b, %z {n = 32 : i32} : !cta.buffer<64x32xf16, #m128>, !cta.buffer<32x32xf16, #n64> -> tensor<64x32xf32, #acc32>
  cta.wgmma_wait {pending = 0 : i32}
  %r = cta.await %d after %d_t : tensor<64x32xf32, #acc32>
  tile.print "" %r : tensor<64x32xf32, #acc32>
  tile.return
}

// m and n contiguous: 8 rows along k of 32 bytes for b, of 128 bytes for a.
// CHECK-LABEL: llvm.func @n_contiguous_32
// CHECK-DAG: arith.constant 4611686293305294848 : i64
// CHECK-DAG: arith.constant -4611685949707911168 : i64
// CHECK-DAG: arith.constant 16777216 : i32
// CHECK-DAG: arith.constant 4194304 : i32
// CHECK: llvm.inline_asm {{.*}}wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {{.*}}, 1, 1, 1, 1;{{.*}}wgmma.mma_async{{.*}}, 1, 1, 1, 1;
tile.kernel @n_contiguous_32() attributes {shared_bytes = 32768 : i64} {
  %a = cta.alloc at 0 : !cta.buffer<64x32xf16, #m128>
  %b = cta.alloc at 16384 : !cta.buffer<32x16xf16, #n32>
  %z = arith.constant dense<0.0> : tensor<64x16xf32, #acc16>
  %d, %d_t = cta.wgmma %a, %b, %z {n = 16 : i32} : !cta.buffer<64x32xf16, #m128>, !cta.buffer<32x16xf16, #n32> -> tensor<64x16xf32, #acc16>
  cta.wgmma_wait {pending = 0 : i32}
  %r = cta.await %d after %d_t : tensor<64x16xf32, #acc16>
  tile.print "" %r : tensor<64x16xf32, #acc16>
  tile.return
}

// Two tiles of 64 rows, whose b is the same; if the condition is false, the sum starts anew.
// CHECK-LABEL: llvm.func @tiles
// CHECK: llvm.inline_asm {{.*}}wgmma.mma_async{{.*}}, {{\$[0-9]+}}, 1, 1, 0, 0;{{.*}}wgmma.mma_async{{.*}}, {{\$[0-9]+}}, 1, 1, 0, 0;{{.*}}commit_group
// CHECK: "wgmma.wait_group.sync.aligned 1;"
tile.kernel @tiles(%c: i1) attributes {shared_bytes = 32768 : i64} {
  %a = cta.alloc at 0 : !cta.buffer<128x16xf16, #tall>
  %b = cta.alloc at 16384 : !cta.buffer<16x64xf16, #t32>
  %z = arith.constant dense<0.0> : tensor<128x64xf32, #accs>
  %d, %d_t = cta.wgmma %a, %b, %z if %c {n = 64 : i32} : !cta.buffer<128x16xf16, #tall>, !cta.buffer<16x64xf16, #t32> -> tensor<128x64xf32, #accs>
  cta.wgmma_wait {pending = 1 : i32}
  %r = cta.await %d after %d_t : tensor<128x64xf32, #accs>
  tile.print "" %r : tensor<128x64xf32, #accs>
  tile.return
}

// Integers neither scale nor transpose.
// CHECK-LABEL: llvm.func @bytes
// CHECK: wgmma.mma_async.sync.aligned.m64n64k32.s32.s8.s8 {{.*}}, never;
tile.kernel @bytes() attributes {shared_bytes = 32768 : i64} {
  %a = cta.alloc at 0 : !cta.buffer<64x32xi8, #bytes>
  %b = cta.alloc at 16384 : !cta.buffer<32x64xi8, #bytest>
  %z = arith.constant dense<0> : tensor<64x64xi32, #acc>
  %d, %d_t = cta.wgmma %a, %b, %z {n = 64 : i32} : !cta.buffer<64x32xi8, #bytes>, !cta.buffer<32x64xi8, #bytest> -> tensor<64x64xi32, #acc>
  cta.wgmma_wait {pending = 0 : i32}
  %r = cta.await %d after %d_t : tensor<64x64xi32, #acc>
  tile.print "" %r : tensor<64x64xi32, #acc>
  tile.return
}

// The left operand from registers: four of two 16-bit elements for each k step; only the right one may be transposed.
// CHECK-LABEL: llvm.func @registers
// CHECK-COUNT-8: llvm.bitcast {{.*}} : vector<2xf16> to i32
// CHECK: llvm.inline_asm {{.*}}wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {{.*}}, {$32, $33, $34, $35}, $36, never, 1, 1, 0;\0Awgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {{.*}}, {$37, $38, $39, $40}, $41, always, 1, 1, 0;
tile.kernel @registers(%x: f16) attributes {shared_bytes = 32768 : i64} {
  %a = tile.splat %x : f16 -> tensor<64x32xf16, #acc32>
  %b = cta.alloc at 16384 : !cta.buffer<32x64xf16, #t64>
  %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %d, %d_t = cta.wgmma %a, %b, %z {n = 64 : i32} : tensor<64x32xf16, #acc32>, !cta.buffer<32x64xf16, #t64> -> tensor<64x64xf32, #acc>
  cta.wgmma_wait {pending = 0 : i32}
  %r = cta.await %d after %d_t : tensor<64x64xf32, #acc>
  tile.print "" %r : tensor<64x64xf32, #acc>
  tile.return
}

// 160 columns of 256: one instruction with 80 registers per thread, in five panels of 64 bytes (32 columns by 64 rows
// of k, 4096 bytes); the other registers are not operands of the statements. All MMAs are wide, so that ptxas needs
// little optimization.
// CHECK-LABEL: llvm.func @columns
// CHECK-SAME: tile.ptxas_level = 1 : i32
// CHECK-DAG: arith.constant 16777216 : i32
// CHECK-DAG: arith.constant -9223371899415822336 : i64
// CHECK: llvm.inline_asm {{.*}}wgmma.mma_async.sync.aligned.m64n160k16.f32.f16.f16 {$0, $1, {{.*}}, $78, $79}, $80, $81, always
// CHECK: "wgmma.wait_group.sync.aligned 0;"
// CHECK: llvm.inline_asm has_side_effects asm_dialect = att "", "=f,{{.*}},=f,0,1,{{.*}},78,79" %
tile.kernel @columns(%x: f32) attributes {shared_bytes = 65536 : i64} {
  %a = cta.alloc at 0 : !cta.buffer<64x64xf16, #k128>
  %b = cta.alloc at 16384 : !cta.buffer<64x160xf16, #n160>
  %z = tile.splat %x : f32 -> tensor<64x256xf32, #acc256>
  %d, %d_t = cta.wgmma %a, %b, %z {n = 160 : i32} : !cta.buffer<64x64xf16, #k128>, !cta.buffer<64x160xf16, #n160> -> tensor<64x256xf32, #acc256>
  cta.wgmma_wait {pending = 0 : i32}
  %r = cta.await %d after %d_t {columns = 160 : i32} : tensor<64x256xf32, #acc256>
  tile.print "" %r : tensor<64x256xf32, #acc256>
  tile.return
}

// One statement for all registers; the value is not known to be a constant.
// CHECK-LABEL: llvm.func @zeros
// CHECK: llvm.inline_asm has_side_effects {{.*}}"mov.b32 $0, 0;", "=f"
// CHECK-NOT: mov.b32
tile.kernel @zeros() {
  %z = cta.zeros : tensor<64x64xf32, #acc>
  tile.print "" %z : tensor<64x64xf32, #acc>
  tile.return
}

// Registers without a value, all in one statement.
// CHECK-LABEL: llvm.func @undefined
// CHECK: llvm.inline_asm has_side_effects {{.*}}"{\0A.reg .b32 any;\0Amov.b32 $0, any;\0Amov.b32 $1, any;\0A{{.*}}mov.b32 $31, any;\0A}", "=f,
tile.kernel @undefined() {
  %u = cta.undefined : tensor<64x64xf32, #acc>
  tile.print "" %u : tensor<64x64xf32, #acc>
  tile.return
}
