// Element-wise addition with a ragged end: the driver's test input.
tile.kernel @add(%x: !tile.ptr<f32> {tile.name = "x", tile.divisibility = 16 : i32}, %y: !tile.ptr<f32> {tile.name = "y", tile.divisibility = 16 : i32}, %out: !tile.ptr<f32> {tile.name = "out", tile.divisibility = 16 : i32}, %n: i32 {tile.name = "n"})
  attributes {num_warps = 4 : i32, num_stages = 3 : i32, constants = {BLOCK = 1024 : i32},
   launch = #tile.launch<grid = ["cdiv(n, BLOCK)"],
     buffers = [<parameter = "x", shape = ["n"], role = random>, <parameter = "y", shape = ["n"], role = random>, <parameter = "out", shape = ["n"], role = output>],
     expect = [<buffer = "out", expression = "x + y", tolerance = 1.0e-6>]>} {
  %c1024 = arith.constant 1024 : i32
  %pid = tile.program_id 0
  %start = arith.muli %pid, %c1024 : i32
  %r = tile.arange 0 to 1024 : tensor<1024xi32>
  %s = tile.splat %start : i32 -> tensor<1024xi32>
  %o = arith.addi %s, %r : tensor<1024xi32>
  %ns = tile.splat %n : i32 -> tensor<1024xi32>
  %m = arith.cmpi slt, %o, %ns : tensor<1024xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %os = tile.splat %out : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %o : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %yp = tile.addptr %ys, %o : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %op = tile.addptr %os, %o : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %a = tile.load %xp mask %m : tensor<1024x!tile.ptr<f32>>
  %b = tile.load %yp mask %m : tensor<1024x!tile.ptr<f32>>
  %c = arith.addf %a, %b : tensor<1024xf32>
  tile.store %op, %c mask %m : tensor<1024x!tile.ptr<f32>>
  tile.return
}
