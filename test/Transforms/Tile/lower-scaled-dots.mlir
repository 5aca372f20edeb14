// RUN: tile-opt %s --pass-pipeline='builtin.module(cta-attach-target{name=sm_100f},tile.kernel(tile-lower-scaled-dots))' 2> %t.txt | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.txt
// RUN: tile-opt %s --pass-pipeline='builtin.module(cta-attach-target{name=sm_90a},tile.kernel(tile-lower-scaled-dots))' | FileCheck %s --check-prefix=HOPPER
// HOPPER-COUNT-4: tile.dot %{{.*}}, %{{.*}}, %{{.*}} : tensor<128x128xbf16>, tensor<128x128xbf16>

tile.kernel @formats() attributes {num_warps = 4 : i32} {
  %p = arith.constant dense<1> : tensor<128x64xi8>
  %q = arith.constant dense<1> : tensor<64x128xi8>
  %b = arith.constant dense<1> : tensor<128x128xi8>
  %s = arith.constant dense<127> : tensor<128x4xi8>
  %t = arith.constant dense<1.0> : tensor<128x8xf8E4M3FN>
  %c = arith.constant dense<0.0> : tensor<128x128xf32>
  // Elements of four bits are multiplied without conversion.
  // CHECK: %[[S:.*]] = arith.constant dense<127> : tensor<128x4xi8>
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} scales %[[S]], %[[S]] : tensor<128x64xi8>, tensor<64x128xi8>
  %0 = tile.dot_scaled %p scale %s as e2m1, %q scale %s as e2m1, %c : (tensor<128x64xi8>, tensor<64x128xi8>, tensor<128x128xf32>, tensor<128x4xi8>, tensor<128x4xi8>) -> tensor<128x128xf32>
  tile.print "" %0 : tensor<128x128xf32>
  // CHECK: tile.dot {{.*}} -> tensor<128x128xf32>, tensor<128x8xf8E4M3FN>, tensor<128x8xf8E4M3FN>
  %1 = tile.dot_scaled %p scale %t as e2m1, %q scale %t as e2m1, %c : (tensor<128x64xi8>, tensor<64x128xi8>, tensor<128x128xf32>, tensor<128x8xf8E4M3FN>, tensor<128x8xf8E4M3FN>) -> tensor<128x128xf32>
  tile.print "" %1 : tensor<128x128xf32>
  // Together with elements of eight bits they become e4m3. An operand without scales gets scales of 1.
  // CHECK: arith.truncf {{.*}} to tensor<128x128xf8E4M3FN>
  // CHECK: %[[Y:.*]] = arith.bitcast {{.*}} to tensor<128x128xf8E5M2>
  // CHECK: %[[ONE:.*]] = arith.constant dense<127> : tensor<128x4xi8>
  // CHECK: tile.dot %{{.*}}, %[[Y]], %{{.*}} scales %[[S]], %[[ONE]] : tensor<128x128xf8E4M3FN>, tensor<128x128xf8E5M2>
  %2 = tile.dot_scaled %p scale %s as e2m1, %b as e5m2, %c : (tensor<128x64xi8>, tensor<128x128xi8>, tensor<128x128xf32>, tensor<128x4xi8>) -> tensor<128x128xf32>
  tile.print "" %2 : tensor<128x128xf32>
  // REMARK: remark: operands of dot_scaled are converted to 16-bit floats: tensor cores support scales only for operands of 8 or 4 bits
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} : tensor<128x128xbf16>, tensor<128x128xbf16>
  %x = arith.constant dense<1.0> : tensor<128x128xbf16>
  %3 = tile.dot_scaled %p scale %s as e2m1, %x as bf16, %c : (tensor<128x64xi8>, tensor<128x128xbf16>, tensor<128x128xf32>, tensor<128x4xi8>) -> tensor<128x128xf32>
  tile.print "" %3 : tensor<128x128xf32>
  tile.return
}

tile.kernel @refused() attributes {num_warps = 4 : i32} {
  %s = arith.constant dense<127> : tensor<128x4xi8>
  %p = arith.constant dense<1> : tensor<64x128xi8>
  %q = arith.constant dense<1> : tensor<64x128xi8>
  %c = arith.constant dense<0.0> : tensor<128x128xf32>
  // REMARK: converted to 16-bit floats: tensor cores require 4-bit elements to be packed along k
  %0 = tile.dot_scaled %p scale %s as e2m1, %q scale %s as e2m1, %c {a_packed_by_row} : (tensor<64x128xi8>, tensor<64x128xi8>, tensor<128x128xf32>, tensor<128x4xi8>, tensor<128x4xi8>) -> tensor<128x128xf32>
  tile.print "" %0 : tensor<128x128xf32>
  %a = arith.constant dense<1> : tensor<128x64xi8>
  %t = arith.constant dense<1.0> : tensor<128x8xf8E4M3FN>
  // REMARK: converted to 16-bit floats: tensor cores require scales of the same type for both operands
  %1 = tile.dot_scaled %a scale %s as e2m1, %q scale %t as e2m1, %c : (tensor<128x64xi8>, tensor<64x128xi8>, tensor<128x128xf32>, tensor<128x4xi8>, tensor<128x8xf8E4M3FN>) -> tensor<128x128xf32>
  tile.print "" %1 : tensor<128x128xf32>
  tile.return
}

tile.kernel @memory() attributes {num_warps = 4 : i32} {
  %a = arith.constant dense<1> : tensor<128x512xi8>
  %b = arith.constant dense<1> : tensor<512x128xi8>
  %s = arith.constant dense<127> : tensor<128x32xi8>
  %c = arith.constant dense<0.0> : tensor<128x128xf32>
  // REMARK: converted to 16-bit floats: operands would take more than 3/4 of shared memory; use smaller blocks
  %0 = tile.dot_scaled %a scale %s as e2m1, %b scale %s as e2m1, %c : (tensor<128x512xi8>, tensor<512x128xi8>, tensor<128x128xf32>, tensor<128x32xi8>, tensor<128x32xi8>) -> tensor<128x128xf32>
  %1 = tile.dot_scaled %a scale %s as e2m1, %b scale %s as e2m1, %0 : (tensor<128x512xi8>, tensor<512x128xi8>, tensor<128x128xf32>, tensor<128x32xi8>, tensor<128x32xi8>) -> tensor<128x128xf32>
  tile.print "" %1 : tensor<128x128xf32>
  tile.return
}
