// RUN: tile-opt %s --verify-diagnostics --split-input-file

#a = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>
#b = #cta.layout<[128], register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[64], [0]]>

tile.kernel @shape(%f: f32) {
  %x = tile.splat %f : f32 -> tensor<64xf32, #a>
  // expected-error @below {{'cta.convert_layout' op operand is 'tensor<64xf32}}
  %y = cta.convert_layout %x : tensor<64xf32, #a> -> tensor<128xf32, #b>
  tile.return
}

// -----

#a = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>

tile.kernel @no_layout(%f: f32) {
  %x = tile.splat %f : f32 -> tensor<64xf32>
  // expected-error @below {{'cta.convert_layout' op operand and result must have a layout}}
  %y = cta.convert_layout %x : tensor<64xf32> -> tensor<64xf32, #a>
  tile.return
}

// -----

#a = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>

tile.kernel @counts(%f: f32) {
  %x = tile.splat %f : f32 -> tensor<64xf32, #a>
  // expected-error @below {{'cta.partial_reduce' op has 2 operands and 1 results; the numbers must be equal, and at least 1}}
  %y = "cta.partial_reduce"(%x, %x) ({
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }) {axis = 0 : i32} : (tensor<64xf32, #a>, tensor<64xf32, #a>) -> tensor<64xf32, #a>
  tile.return
}

// -----

#a = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>

tile.kernel @axis(%f: f32) {
  %x = tile.splat %f : f32 -> tensor<64xf32, #a>
  // expected-error @below {{'cta.partial_reduce' op operand has rank 1, result 1 and axis is 1; ranks must agree and contain the axis}}
  %y = cta.partial_reduce %x {axis = 1 : i32} : tensor<64xf32, #a> -> tensor<64xf32, #a> {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  tile.return
}

// -----

#a = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>

tile.kernel @combined_type(%f: f32) {
  %x = tile.splat %f : f32 -> tensor<64xf32, #a>
  // expected-error @below {{'cta.partial_reduce' op operand is}}
  %y = cta.partial_reduce %x {axis = 0 : i32} : tensor<64xf32, #a> -> tensor<64xf64, #a> {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  tile.return
}

// -----

#a = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>
#b = #cta.layout<[32], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[0], [0]]>

tile.kernel @combined_shapes(%f: f32) {
  %x = tile.splat %f : f32 -> tensor<64xf32, #a>
  %y = tile.splat %f : f32 -> tensor<32xf32, #b>
  // expected-error @below {{'cta.partial_reduce' op operands are}}
  %z:2 = cta.partial_reduce %x, %y {axis = 0 : i32} : tensor<64xf32, #a>, tensor<32xf32, #b> -> tensor<64xf32, #a>, tensor<32xf32, #b> {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    tile.yield %a, %b : f32, f32
  }
  tile.return
}

// -----

#a = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>

tile.kernel @combination(%f: f32) {
  %x = tile.splat %f : f32 -> tensor<64xf32, #a>
  // expected-error @below {{'cta.partial_reduce' op combine region takes the types 'f64', 'f64' but must take 'f32', 'f32'}}
  %y = cta.partial_reduce %x {axis = 0 : i32} : tensor<64xf32, #a> -> tensor<64xf32, #a> {
  ^bb0(%a: f64, %b: f64):
    tile.yield %a : f64
  }
  tile.return
}

// -----

#acc = #cta.layout<[16, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#rows = #cta.layout<[8, 16], register = [[0, 1], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>

tile.kernel @slice_rows(%f: f32) {
  %x = tile.splat %f : f32 -> tensor<16x16xf32, #acc>
  // expected-error @below {{'cta.slice_columns' op operand is 'tensor<16x16xf32}}
  %y = cta.slice_columns %x {first = 0 : i32} : tensor<16x16xf32, #acc> -> tensor<8x16xf32, #rows>
  tile.return
}

// -----

#acc = #cta.layout<[16, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#columns = #cta.layout<[16, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>

tile.kernel @slice_start(%f: f32) {
  %x = tile.splat %f : f32 -> tensor<16x16xf32, #acc>
  // expected-error @below {{'cta.slice_columns' op takes 8 of 16 columns, starting at column 4; the first column must be a multiple of 8}}
  %y = cta.slice_columns %x {first = 4 : i32} : tensor<16x16xf32, #acc> -> tensor<16x8xf32, #columns>
  tile.return
}

// -----

#acc = #cta.layout<[16, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#columns = #cta.layout<[16, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>

tile.kernel @slice_beyond(%f: f32) {
  %x = tile.splat %f : f32 -> tensor<16x16xf32, #acc>
  // expected-error @below {{'cta.slice_columns' op takes 8 of 16 columns, starting at column 16; the first column must be a multiple of 8}}
  %y = cta.slice_columns %x {first = 16 : i32} : tensor<16x16xf32, #acc> -> tensor<16x8xf32, #columns>
  tile.return
}

// -----

#acc = #cta.layout<[16, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>

tile.kernel @slice_no_layout(%f: f32) {
  %x = tile.splat %f : f32 -> tensor<16x16xf32, #acc>
  // expected-error @below {{'cta.slice_columns' op operand and result must have a layout}}
  %y = cta.slice_columns %x {first = 8 : i32} : tensor<16x16xf32, #acc> -> tensor<16x8xf32>
  tile.return
}

// -----

#acc = #cta.layout<[16, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#other = #cta.layout<[16, 8], register = [[8, 0], [0, 1]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>

tile.kernel @slice_layout(%f: f32) {
  %x = tile.splat %f : f32 -> tensor<16x16xf32, #acc>
  // expected-error @below {{'cta.slice_columns' op result must have the layout of a slice whose elements stay in their threads}}
  %y = cta.slice_columns %x {first = 8 : i32} : tensor<16x16xf32, #acc> -> tensor<16x8xf32, #other>
  tile.return
}

// -----

// Lanes hold different columns.
#acc = #cta.layout<[16, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#pair = #cta.layout<[16, 2], register = [[0, 1], [8, 0]], lane = [[0, 0], [0, 0], [1, 0], [2, 0], [4, 0]], warp = []>

tile.kernel @slice_lanes(%f: f32) {
  %x = tile.splat %f : f32 -> tensor<16x16xf32, #acc>
  // expected-error @below {{'cta.slice_columns' op result must have the layout of a slice whose elements stay in their threads}}
  %y = cta.slice_columns %x {first = 8 : i32} : tensor<16x16xf32, #acc> -> tensor<16x2xf32, #pair>
  tile.return
}

// -----

// Coordinate 2 lies outside: bases are checked when the attribute is read.
// expected-error @below {{basis}}
#bad = #cta.layout<[2], register = [], lane = [[2], [0], [0], [0], [0]], warp = []>

// -----

#warpless = #cta.layout<[32], register = [], lane = [[1], [2], [4], [8], [16]]>

// expected-error @below {{not a layout of a tensor}}
func.func private @tensor(tensor<32xf32, #warpless>)

// -----

#a = #cta.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>

// expected-error @below {{layout is for shape [64] but the tensor is [32]}}
func.func private @tensor(tensor<32xf32, #a>)

// -----

func.func @partial_scan_counts(%x: tensor<128xf32>, %y: tensor<4xf32>, %z: tensor<64xf32>, %w: tensor<4xf16>) {
  // expected-error @below {{'cta.partial_scan' op has operands 'tensor<128xf32>' but results 'tensor<128xf32>'; the first results must have the operands' types}}
  %s = cta.partial_scan %x {axis = 0 : i32} : tensor<128xf32> -> tensor<128xf32> {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  return
}

// -----

func.func @partial_scan_axis(%x: tensor<128xf32>, %y: tensor<4xf32>, %z: tensor<64xf32>, %w: tensor<4xf16>) {
  // expected-error @below {{'cta.partial_scan' op axis is 1 but a scan has rank 1}}
  %s:2 = cta.partial_scan %x {axis = 1 : i32} : tensor<128xf32> -> tensor<128xf32>, tensor<4xf32> {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  return
}

// -----

func.func @partial_scan_total(%x: tensor<128xf32>, %y: tensor<4xf32>, %z: tensor<64xf32>, %w: tensor<4xf16>) {
  // expected-error @below {{'cta.partial_scan' op scan is 'tensor<128xf32>' but its totals are 'tensor<4xf16>'; only axis 0 may differ}}
  %s:2 = cta.partial_scan %x {axis = 0 : i32} : tensor<128xf32> -> tensor<128xf32>, tensor<4xf16> {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  return
}

// -----

func.func @partial_scan_shapes(%x: tensor<128xf32>, %y: tensor<4xf32>, %z: tensor<64xf32>, %w: tensor<4xf16>) {
  // expected-error @below {{'cta.partial_scan' op scans are 'tensor<128xf32>' and 'tensor<64xf32>'; their shapes must agree}}
  %s:4 = cta.partial_scan %x, %z {axis = 0 : i32} : tensor<128xf32>, tensor<64xf32> -> tensor<128xf32>, tensor<64xf32>, tensor<4xf32>, tensor<4xf32> {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    tile.yield %a : f32
  }
  return
}

// -----

func.func @partial_scan_region(%x: tensor<128xf32>, %y: tensor<4xf32>, %z: tensor<64xf32>, %w: tensor<4xf16>) {
  // expected-error @below {{'cta.partial_scan' op combine region takes 1 arguments; expected 2, the left and the right elements}}
  %s:2 = cta.partial_scan %x {axis = 0 : i32} : tensor<128xf32> -> tensor<128xf32>, tensor<4xf32> {
  ^bb0(%a: f32):
    tile.yield %a : f32
  }
  return
}

// -----

func.func @scan_carry_counts(%x: tensor<128xf32>, %y: tensor<4xf32>, %z: tensor<64xf32>, %w: tensor<4xf16>) {
  // expected-error @below {{'cta.scan_carry' op has operands 'tensor<128xf32>' but results 'tensor<128xf32>'; the first operands must have the results' types}}
  %s = cta.scan_carry %x {axis = 0 : i32} : tensor<128xf32> -> tensor<128xf32> {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  return
}
