// RUN: tile-opt %s --verify-diagnostics --split-input-file

// expected-error @below {{'tile.kernel' op has 1 results; a kernel returns nothing}}
tile.kernel @results() -> i32 {
  tile.return
}

// -----

// expected-error @below {{'tile.kernel' op argument 1 is 'tensor<4xf32>'; a kernel takes scalars and pointers}}
tile.kernel @argument(%n: i32, %x: tensor<4xf32>) {
  tile.return
}

// -----

// expected-error @below {{'tile.kernel' op num_warps is 3 but must be a power of two from 1 to 32}}
tile.kernel @warps() attributes {num_warps = 3 : i32} {
  tile.return
}

// -----

// expected-error @below {{'tile.kernel' op num_warps is 64 but must be a power of two from 1 to 32}}
tile.kernel @many_warps() attributes {num_warps = 64 : i32} {
  tile.return
}

// -----

// expected-error @below {{'tile.kernel' op num_stages is 17 but must be from 1 to 16}}
tile.kernel @stages() attributes {num_stages = 17 : i32} {
  tile.return
}

// -----

// expected-error @below {{'tile.kernel' op shared_bytes is -1 but must not be negative}}
tile.kernel @shared() attributes {shared_bytes = -1 : i64} {
  tile.return
}

// -----

tile.kernel @axis() {
  // expected-error @below {{attribute 'axis' failed to satisfy constraint}}
  %pid = tile.program_id 3
  tile.return
}

// -----

tile.kernel @print() {
  %x = arith.constant dense<1.0> : tensor<2x4xf32>
  %y = arith.constant dense<1.0> : tensor<8xf32>
  // expected-error @below {{'tile.print' op operands have shapes [2, 4] and [8]; they must agree}}
  tile.print "x, y = " %x, %y : tensor<2x4xf32>, tensor<8xf32>
  tile.return
}

// -----

tile.kernel @print_signs(%x: i32) {
  // expected-error @below {{'tile.print' op isUnsigned has 2 entries for 1 operands}}
  tile.print "x" %x : i32 {isUnsigned = array<i1: true, false>}
  tile.return
}

// -----

// expected-error @below {{'tile.kernel' op cluster has 2 sizes but needs 3}}
tile.kernel @cluster_rank() attributes {cluster = array<i32: 2, 1>} {
  tile.return
}

// -----

// expected-error @below {{'tile.kernel' op cluster is [3, 1, 1]; its sizes must be 1, 2, 4 or 8}}
tile.kernel @cluster_extent() attributes {cluster = array<i32: 3, 1, 1>} {
  tile.return
}

// -----

// expected-error @below {{'tile.kernel' op cluster has 16 CTAs; at most 8 are allowed}}
tile.kernel @large_cluster() attributes {cluster = array<i32: 4, 4, 1>} {
  tile.return
}

// -----

// expected-error @below {{'tile.kernel' op cluster_ctas is 4 but the requested cluster has 2}}
tile.kernel @other_cluster() attributes {cluster = array<i32: 2, 1, 1>, cluster_ctas = 4 : i32} {
  tile.return
}

// -----

tile.kernel @programs(%n: i32) {
  // expected-error @below {{has 3 block arguments but needs 4}}
  tile.programs (%i, %j, %k) in (%n, %n, %n) #tile.work<order = grid> {
  }
  tile.return
}

// -----

tile.kernel @programs(%n: i32) {
  // expected-error @below {{has a grid of 2 sizes but needs 3}}
  tile.programs (%i, %j, %k, %exists) in (%n, %n) #tile.work<order = grid> {
  }
  tile.return
}

// -----

tile.kernel @programs(%n: i32) {
  // expected-error @below {{has a number of K steps but no tail to split over CTAs}}
  tile.programs (%i, %j, %k, %exists) in (%n, %n, %n) steps (%n) #tile.work<order = grid> {
  }
  tile.return
}

// -----

tile.kernel @programs(%n: i32) {
  // expected-error @below {{has a tail to split over CTAs but no number of K steps}}
  tile.programs (%i, %j, %k, %exists, %first, %end, %piece, %pieces) in (%n, %n, %n) #tile.work<order = grid, tail = <sum = 7, piece = 9, fixed = 9>> {
  }
  tile.return
}

// -----

tile.kernel @programs(%n: i32) {
  // expected-error @below {{'tile.programs' op yields values; a program must not}}
  tile.programs (%i, %j, %k, %exists) in (%n, %n, %n) #tile.work<order = grid> {
    tile.yield %i : i32
  }
  tile.return
}

// -----

tile.kernel @programs(%n: i32) {
  // expected-error @below {{'tile.programs' op has block arguments 'i32' but needs 'i32', 'i32', 'i32', 'i1'}}
  "tile.programs"(%n, %n, %n) <{work = #tile.work<order = grid>}> ({
  ^bb0(%i: i32):
    "tile.yield"() : () -> ()
  }) : (i32, i32, i32) -> ()
  tile.return
}

// -----

tile.kernel @programs(%n: i32) {
  // expected-error @below {{group is 8 but must be positive, and 1 unless the order is swizzle2d}}
  tile.programs (%i, %j, %k, %exists) in (%n, %n, %n) #tile.work<order = grid, group = 8> {
  }
  tile.return
}

// -----

tile.kernel @programs(%n: i32) {
  // expected-error @below {{cluster is [2] but must be two positive integers}}
  tile.programs (%i, %j, %k, %exists) in (%n, %n, %n) #tile.work<order = grid, cluster = [2]> {
  }
  tile.return
}

// -----

tile.kernel @programs(%n: i32) {
  // expected-error @below {{split_k is 0 but must be positive}}
  tile.programs (%i, %j, %k, %exists) in (%n, %n, %n) #tile.work<order = grid, split_k = 0> {
  }
  tile.return
}

// -----

tile.kernel @programs(%n: i32) {
  // expected-error @below {{cluster, split_k and tail are mutually exclusive}}
  tile.programs (%i, %j, %k, %exists) in (%n, %n, %n) #tile.work<order = grid, cluster = [2, 1], split_k = 2> {
  }
  tile.return
}

// -----

tile.kernel @programs(%n: i32) {
  // expected-error @below {{only persistent programs have an order, a cluster or a tail}}
  tile.programs (%i, %j, %k, %exists) in (%n, %n, %n) #tile.work<order = transposed, persistent = false> {
  }
  tile.return
}

// -----

tile.kernel @flag_type(%p: !tile.ptr<f32>) {
  %one = arith.constant 1 : i32
  // expected-error @+1 {{'tile.wait_flag' op waits for a flag of 'f32'; expected i32}}
  tile.wait_flag %p, %one : !tile.ptr<f32>
  tile.return
}
