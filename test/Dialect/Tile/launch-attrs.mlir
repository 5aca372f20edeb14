// RUN: tile-opt %s | tile-opt | FileCheck %s

// Directives, and how the launcher encodes a tensor map. Defaults are not printed.
// CHECK: tile.kernel @launched(%{{.*}}: !tile.ptr<f16> {tile.divisibility = 16 : i32, tile.name = "a", tile.unsigned},
// CHECK-SAME: {tile.tensor_map = #tile.tensor_map<base = "a", shape = ["M", "K"], strides = ["lda"], box = [64, 32], swizzle = 64, l2_promotion = 256, element = f16>},
// CHECK-SAME: {tile.tensor_map = #tile.tensor_map<base = "a", shape = ["M * K"]>},
// CHECK-SAME: {tile.grid_size = 2 : i32}, %{{.*}}: !tile.ptr<i8> {tile.scratch = 64 : i64})
// CHECK-SAME: launch = #tile.launch<grid = ["cdiv(M, 64)", "1"], buffers = [<parameter = "a", shape = ["M", "K"], strides = ["lda", "1"], role = inout>, <parameter = "n", role = zeros>], defaults = [<parameter = "lda", value = "K">], expect = [<buffer = "a", expression = "a * 2", tolerance = 1.000000e-03 : f64>]>
tile.kernel @launched(%a: !tile.ptr<f16> {tile.name = "a", tile.divisibility = 16 : i32, tile.unsigned},
    %d: !tile.desc<64x32xf16> {tile.tensor_map = #tile.tensor_map<base = "a", shape = ["M", "K"], strides = ["lda"], box = [64, 32],
                                                                  swizzle = 64, l2_promotion = 256, element = f16>},
    %e: !tile.desc<64xf16> {tile.tensor_map = #tile.tensor_map<base = "a", shape = ["M * K"], strides = [], l2_promotion = 128>},
    %z: i32 {tile.grid_size = 2 : i32}, %s: !tile.ptr<i8> {tile.scratch = 64 : i64})
    attributes {launch = #tile.launch<grid = ["cdiv(M, 64)", "1"],
        buffers = [<parameter = "a", shape = ["M", "K"], strides = ["lda", "1"], role = inout>, #tile.buffer<parameter = "n", role = zeros>],
        defaults = [<parameter = "lda", value = "K">], expect = [<buffer = "a", expression = "a * 2", tolerance = 1.0e-3>]>} {
  tile.return
}

// CHECK: tile.kernel @silent() attributes {{.*}}launch = #tile.launch,
tile.kernel @silent() attributes {launch = #tile.launch} {
  tile.return
}
