// A matrix that is repeated for a few rows is multiplied in the layout in which it was loaded, and the rows are loaded
// in that layout: the loop moves nothing between threads.
// RUN: tilec %examples/gemm/few_rows.tile --target=sm_90a --stop-after=cta-remove-conversions -o - | FileCheck %s
// RUN: tilec %examples/gemm/few_rows.tile -D ROWS=4 -D BLOCK_N=4 -D BLOCK_K=256 --target=sm_90a --stop-after=cta-remove-conversions -o - | FileCheck %s

// CHECK: scf.for
// CHECK-NOT: cta.convert_layout
// CHECK: scf.yield

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
