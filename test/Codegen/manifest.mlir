// The manifest: printed by the compiler, and read back from PTX and cubin by a program without LLVM.
// RUN: tilec %s --emit=manifest | FileCheck %s
// RUN: tilec %s -o %t.ptx && tile-run describe %t.ptx | FileCheck %s
// RUN: %if ptxas %{ tilec %s -o %t.cubin && tile-run describe %t.cubin | FileCheck %s %}

// CHECK: "kernel": "fill"
// CHECK: "hash": "sha256:{{[0-9a-f]+}}"
// CHECK: "name": "out"
// CHECK-NEXT: "type": "ptr<bf16>"
// CHECK-NEXT: "alignment": 16
// CHECK: "shape": ["n"]
// CHECK: "role": "output"
// CHECK: "name": "n"
// CHECK-NEXT: "type": "u32"
// CHECK-NEXT: "divisibility": 8
// CHECK: "default": "2 * 64"
// CHECK: "BLOCK": 64
// CHECK: "FLAG": true
// CHECK: "NAME": "none"
// CHECK: "cdiv(n, BLOCK)"
// CHECK: "expression": "out * 0"
tile.kernel @fill(%out: !tile.ptr<bf16> {tile.name = "out", tile.divisibility = 16 : i32},
                  %n: i32 {tile.name = "n", tile.divisibility = 8 : i32, tile.unsigned})
    attributes {num_warps = 2 : i32, constants = {BLOCK = 64 : i32, FLAG = true, NAME = "none"},
                launch = #tile.launch<grid = ["cdiv(n, BLOCK)"], buffers = [<parameter = "out", shape = ["n"], role = output>],
                                      defaults = [<parameter = "n", value = "2 * 64">],
                                      expect = [<buffer = "out", expression = "out * 0", tolerance = 0.0>]>} {
  tile.return
}
