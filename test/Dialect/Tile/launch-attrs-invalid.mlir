// RUN: tile-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{base is empty but must be the name of a parameter}}
#m = #tile.tensor_map<base = "">

// -----

// expected-error @below {{shape has 6 dimensions; a tensor map has at most 5}}
#m = #tile.tensor_map<base = "a", shape = ["1", "1", "1", "1", "M", "N"], strides = ["1", "1", "1", "1", "N"]>

// -----

// expected-error @below {{has 2 strides for a shape of 2 dimensions; expected one for each dimension but the last}}
#m = #tile.tensor_map<base = "a", shape = ["M", "N"], strides = ["N", "1"]>

// -----

// expected-error @below {{box has 1 dimensions but the shape has 2}}
#m = #tile.tensor_map<base = "a", shape = ["M", "N"], strides = ["N"], box = [64]>

// -----

// expected-error @below {{box is [64, 512]; its sides must be from 1 to 256}}
#m = #tile.tensor_map<base = "a", box = [64, 512]>

// -----

// expected-error @below {{swizzle is 48 but must be 0, 32, 64 or 128 bytes}}
#m = #tile.tensor_map<base = "a", swizzle = 48>

// -----

// expected-error @below {{l2_promotion is 64 but must be 128 or 256 bytes}}
#m = #tile.tensor_map<base = "a", l2_promotion = 64>

// -----

// expected-error @below {{struct is missing required parameter: base}}
#m = #tile.tensor_map<shape = ["M"]>

// -----

// expected-error @below {{buffer 'a' has 1 strides for 2 dimensions}}
#b = #tile.buffer<parameter = "a", shape = ["M", "N"], strides = ["N"], role = random>

// -----

// expected-error @below {{expected ::tile::BufferRole to be one of: random, output, inout, zeros}}
// expected-error @below {{failed to parse Tile_BufferAttr parameter 'role'}}
#b = #tile.buffer<parameter = "a", shape = ["M"], role = input>

// -----

// expected-error @below {{tolerance is -1.000000e+00 but must be at least 0}}
#e = #tile.expect<buffer = "a", expression = "a", tolerance = -1.0>

// -----

// expected-error @below {{grid has 4 axes; expected at most 3}}
#l = #tile.launch<grid = ["1", "2", "3", "4"]>

// -----

// expected-error @below {{parameter 'a' has more than one buffer}}
#l = #tile.launch<buffers = [<parameter = "a", role = zeros>, <parameter = "a", role = output>]>

// -----

// expected-error @below {{parameter 'n' has more than one default}}
#l = #tile.launch<defaults = [<parameter = "n", value = "1">, <parameter = "n", value = "2">]>

// -----

// expected-error @below {{'tile.order' is not an attribute of argument 0}}
tile.kernel @unknown(%n: i32 {tile.order = 1 : i32}) {
  tile.return
}

// -----

// expected-error @below {{attribute 'tile.name' of argument 0 is 1 : i32; expected a non-empty string}}
tile.kernel @name(%n: i32 {tile.name = 1 : i32}) {
  tile.return
}

// -----

// expected-error @below {{attribute 'tile.name' of argument 0 is ""; expected a non-empty string}}
tile.kernel @empty_name(%n: i32 {tile.name = ""}) {
  tile.return
}

// -----

// expected-error @below {{attribute 'tile.divisibility' of argument 0 is 0 : i32; expected a positive integer}}
tile.kernel @divisibility(%n: i32 {tile.divisibility = 0 : i32}) {
  tile.return
}

// -----

// expected-error @below {{attribute 'tile.tensor_map' of argument 0 is {base = "a"}; expected a #tile.tensor_map}}
tile.kernel @map(%d: !tile.desc<64xf16> {tile.tensor_map = {base = "a"}}) {
  tile.return
}

// -----

// expected-error @below {{argument 0 has a 'tile.tensor_map' but is not a descriptor}}
tile.kernel @no_descriptor(%n: i32 {tile.tensor_map = #tile.tensor_map<base = "a">}) {
  tile.return
}

// -----

// expected-error @below {{the tensor map of argument 0 has 1 dimensions but the descriptor's blocks have 2}}
tile.kernel @rank(%d: !tile.desc<64x64xf16> {tile.tensor_map = #tile.tensor_map<base = "a", shape = ["M"]>}) {
  tile.return
}

// -----

// expected-error @below {{the tensor map of argument 0 has 3 dimensions but the descriptor's blocks have 2}}
tile.kernel @box(%d: !tile.desc<64x64xf16> {tile.tensor_map = #tile.tensor_map<base = "a", box = [1, 64, 64]>}) {
  tile.return
}

// -----

// expected-error @below {{attribute 'tile.grid_size' of argument 0 is 3 : i32; expected 0, 1 or 2}}
tile.kernel @axis(%n: i32 {tile.grid_size = 3 : i32}) {
  tile.return
}

// -----

// expected-error @below {{'tile.order' is not an attribute of an operation}}
tile.kernel @operation() attributes {tile.order = 1 : i32} {
  tile.return
}

// -----

tile.kernel @stages(%n: i32) {
  // expected-error @below {{attribute 'tile.num_stages' of an operation is 0 : i32; expected a positive integer}}
  scf.for %i = %n to %n step %n : i32 {
  } {tile.num_stages = 0 : i32}
  tile.return
}

// -----

// expected-error @below {{attribute 'tile.programs_per_cluster' of an operation is array<i32: 2>; expected three i32 integers}}
llvm.func @programs() attributes {tile.programs_per_cluster = array<i32: 2>}

// -----

// expected-error @below {{attribute 'tile.ptxas_level' of an operation is 4 : i32; expected an integer from 0 to 3}}
llvm.func @level() attributes {tile.ptxas_level = 4 : i32}
