// What cannot be described is an error before any code is generated.
// RUN: split-file %s %t
// RUN: not tilec %t/type.mlir --emit=ptx 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not tilec %t/role.mlir --emit=ptx 2>&1 | FileCheck %s --check-prefix=ROLE
// RUN: not tilec %t/grid.mlir --emit=ptx 2>&1 | FileCheck %s --check-prefix=GRID
// RUN: not tilec %t/expect.mlir --emit=ptx 2>&1 | FileCheck %s --check-prefix=EXPECT

// TYPE: error: parameter 'd' has type !tile.desc<16x16xf16>, which an artifact cannot describe
// ROLE: error: buffer 'x' has no role; expected random, output, inout or zeros
// GRID: error: launch attribute 'grid' is not a list of strings
// EXPECT: error: launch attribute 'expect' needs a buffer, an expression and a tolerance

//--- type.mlir
tile.kernel @k(%d: !tile.desc<16x16xf16> {tile.name = "d"}) {
  tile.return
}
//--- role.mlir
tile.kernel @k(%x: !tile.ptr<f16> {tile.name = "x"})
    attributes {launch = {buffers = {x = {shape = ["4"], role = "input"}}}} {
  tile.return
}
//--- grid.mlir
tile.kernel @k() attributes {launch = {grid = 4 : i32}} {
  tile.return
}
//--- expect.mlir
tile.kernel @k() attributes {launch = {expect = [{buffer = "x"}]}} {
  tile.return
}
