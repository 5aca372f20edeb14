// A kernel that a manifest cannot describe is an error before any code is generated.
// RUN: not tilec %s --emit=ptx 2>&1 | FileCheck %s

// CHECK: error: parameter 'd' has type !tile.desc<16x16xf16>, which an artifact cannot describe
tile.kernel @k(%d: !tile.desc<16x16xf16> {tile.name = "d"}) {
  tile.return
}
