// RUN: tile-opt %s --pass-pipeline='builtin.module(cta-attach-target{name=sm_80},tile.kernel(tile-settle-engine,cta-assign-layouts,cta-remove-conversions))' | FileCheck %s

// Arithmetic between a load and a store is done in their layout.
// CHECK-LABEL: tile.kernel @vector
// CHECK-NOT: cta.convert_layout
// CHECK: tile.return
tile.kernel @vector(%p: !tile.ptr<f32> {tile.divisibility = 16 : i32}) {
  %r = tile.arange 0 to 1024 : tensor<1024xi32>
  %s = tile.splat %p : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %q = tile.addptr %s, %r : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %x = tile.load %q : tensor<1024x!tile.ptr<f32>>
  %y = arith.negf %x : tensor<1024xf32>
  tile.store %q, %y : tensor<1024x!tile.ptr<f32>>
  tile.return
}

// A loop carries its accumulator in the layout of the dot, and the result is rounded before it moves.
// CHECK-LABEL: tile.kernel @accumulate
// CHECK: scf.for {{.*}} -> (tensor<32x32xf32, #{{.*}}>)
// CHECK-NEXT: %[[D:.*]] = tile.dot
// CHECK-NEXT: scf.yield %[[D]]
// CHECK: %[[R:.*]] = arith.truncf
// CHECK: cta.convert_layout %[[R]] : tensor<32x32xf16
tile.kernel @accumulate(%p: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %ab = arith.constant dense<2.0> : tensor<32x32xf16>
  %acc = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<32x32xf32>) : i32 {
    %d = tile.dot %ab, %ab, %a : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
    scf.yield %d : tensor<32x32xf32>
  }
  %h = arith.truncf %acc : tensor<32x32xf32> to tensor<32x32xf16>
  %r = tile.arange 0 to 32 : tensor<32xi32>
  %row = tile.expand_dims %r {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %offsets = tile.broadcast %row : tensor<1x32xi32> -> tensor<32x32xi32>
  %s = tile.splat %p : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>>
  %q = tile.addptr %s, %offsets : tensor<32x32x!tile.ptr<f16>>, tensor<32x32xi32>
  tile.store %q, %h : tensor<32x32x!tile.ptr<f16>>
  tile.return
}

// The same if the addend is narrower than the sum, and each iteration scales it first.
// CHECK-LABEL: tile.kernel @wider
// CHECK: scf.for
// CHECK-NOT: cta.convert_layout
// CHECK: scf.yield
// CHECK: %[[R:.*]] = arith.truncf
// CHECK: cta.convert_layout %[[R]] : tensor<32x32xf16
tile.kernel @wider(%p: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %half = arith.constant dense<0.5> : tensor<32x32xf32>
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %none = arith.constant dense<0.0> : tensor<32x32xf16>
  %ab = arith.constant dense<2.0> : tensor<32x32xf16>
  %acc = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<32x32xf32>) : i32 {
    %scaled = arith.mulf %a, %half : tensor<32x32xf32>
    %d = tile.dot %ab, %ab, %none : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf16>
    %wide = arith.extf %d : tensor<32x32xf16> to tensor<32x32xf32>
    %sum = arith.addf %scaled, %wide : tensor<32x32xf32>
    scf.yield %sum : tensor<32x32xf32>
  }
  %r = tile.arange 0 to 32 : tensor<32xi32>
  %row = tile.expand_dims %r {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %cols = tile.broadcast %row : tensor<1x32xi32> -> tensor<32x32xi32>
  %s = tile.splat %p : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>>
  %q = tile.addptr %s, %cols : tensor<32x32x!tile.ptr<f16>>, tensor<32x32xi32>
  %h = arith.truncf %acc : tensor<32x32xf32> to tensor<32x32xf16>
  tile.store %q, %h : tensor<32x32x!tile.ptr<f16>>
  tile.return
}

// So do a loop around it, and a branch, also where a block that is read has another layout: nothing is converted
// between dots.
// CHECK-LABEL: tile.kernel @nested
// CHECK: scf.for
// CHECK-NOT: cta.convert_layout
// CHECK: } else {
// CHECK: cta.convert_layout
// CHECK-NOT: cta.convert_layout
// CHECK: tile.return
tile.kernel @nested(%d: !tile.desc<32x32xf32>, %n: i32, %c: i1) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %block = tile.desc_load %d[%c0, %c0] : !tile.desc<32x32xf32> -> tensor<32x32xf32>
  tile.print "" %block : tensor<32x32xf32>
  %ab = arith.constant dense<2.0> : tensor<32x32xf16>
  %outer = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<32x32xf32>) : i32 {
    %inner = scf.for %j = %c0 to %i step %c1 iter_args(%b = %a) -> (tensor<32x32xf32>) : i32 {
      %sum = scf.if %c -> tensor<32x32xf32> {
        %dot = tile.dot %ab, %ab, %b : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
        scf.yield %dot : tensor<32x32xf32>
      } else {
        scf.yield %b : tensor<32x32xf32>
      }
      scf.yield %sum : tensor<32x32xf32>
    }
    scf.yield %inner : tensor<32x32xf32>
  }
  tile.print "" %outer : tensor<32x32xf32>
  tile.return
}

// A while loop carries it to its condition, from there to its body, and back.
// CHECK-LABEL: tile.kernel @conditional
// CHECK: scf.while
// CHECK-NOT: cta.convert_layout
// CHECK: scf.yield
// CHECK-NEXT: }
// CHECK-NEXT: cta.convert_layout
tile.kernel @conditional(%d: !tile.desc<32x32xf32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %block = tile.desc_load %d[%c0, %c0] : !tile.desc<32x32xf32> -> tensor<32x32xf32>
  tile.print "" %block : tensor<32x32xf32>
  %ab = arith.constant dense<2.0> : tensor<32x32xf16>
  %sum, %end = scf.while (%a = %zero, %i = %c0) : (tensor<32x32xf32>, i32) -> (tensor<32x32xf32>, i32) {
    %goes_on = arith.cmpi slt, %i, %n : i32
    scf.condition(%goes_on) %a, %i : tensor<32x32xf32>, i32
  } do {
  ^bb0(%a: tensor<32x32xf32>, %i: i32):
    %dot = tile.dot %ab, %ab, %a : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
    %next = arith.addi %i, %c1 : i32
    scf.yield %dot, %next : tensor<32x32xf32>, i32
  }
  tile.print "" %sum : tensor<32x32xf32>
  tile.return
}

// A branch yields a dot's result in its layout; a user that needs another layout converts it then.
// CHECK-LABEL: tile.kernel @either
// CHECK: scf.if {{.*}} -> (tensor<32x32xf32, #[[ACC:.*]]>)
// CHECK: cta.convert_layout {{.*}} : tensor<32x32xf32, #[[ACC]]>
// CHECK-NEXT: tile.print
// CHECK-NEXT: tile.dot
tile.kernel @either(%d: !tile.desc<32x32xf32>, %c: i1) {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %block = tile.desc_load %d[%c0, %c0] : !tile.desc<32x32xf32> -> tensor<32x32xf32>
  tile.print "" %block : tensor<32x32xf32>
  %ab = arith.constant dense<2.0> : tensor<32x32xf16>
  %dot = tile.dot %ab, %ab, %zero : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
  %sum = scf.if %c -> tensor<32x32xf32> {
    scf.yield %dot : tensor<32x32xf32>
  } else {
    scf.yield %zero : tensor<32x32xf32>
  }
  tile.print "" %sum : tensor<32x32xf32>
  %next = tile.dot %ab, %ab, %sum : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
  tile.print "" %next : tensor<32x32xf32>
  tile.return
}

// Nor does a mask on one side of a branch change the layout of a dot's result: it is reduced in its layout.
// CHECK-LABEL: tile.kernel @masked_in_branch
// CHECK-NOT: cta.convert_layout {{.*}}32x32xf32
// CHECK: tile.return
tile.kernel @masked_in_branch(%c: i1, %n: i32) {
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %ab = arith.constant dense<2.0> : tensor<32x32xf16>
  %dot = tile.dot %ab, %ab, %zero : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
  %masked = scf.if %c -> tensor<32x32xf32> {
    %columns = tile.arange 0 to 32 : tensor<32xi32>
    %row = tile.expand_dims %columns {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %places = tile.broadcast %row : tensor<1x32xi32> -> tensor<32x32xi32>
    %end = tile.splat %n : i32 -> tensor<32x32xi32>
    %inside = arith.cmpi slt, %places, %end : tensor<32x32xi32>
    %some = arith.select %inside, %dot, %zero : tensor<32x32xi1>, tensor<32x32xf32>
    scf.yield %some : tensor<32x32xf32>
  } else {
    scf.yield %dot : tensor<32x32xf32>
  }
  %most = tile.reduce %masked {axis = 1 : i32} : tensor<32x32xf32> -> tensor<32xf32> {
  ^bb0(%x: f32, %y: f32):
    %max = arith.maxnumf %x, %y : f32
    tile.yield %max : f32
  }
  tile.print "" %most : tensor<32xf32>
  tile.return
}

// The value that is converted is itself what the loop carries on.
// CHECK-LABEL: tile.kernel @yielded
// CHECK: scf.for
// CHECK-NOT: cta.convert_layout
// CHECK: scf.yield
tile.kernel @yielded(%p: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %one = arith.constant dense<1.0> : tensor<1024xf32>
  %r = tile.arange 0 to 1024 : tensor<1024xi32>
  %s = tile.splat %p : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %q = tile.addptr %s, %r : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%x = %one) -> (tensor<1024xf32>) : i32 {
    %y = arith.addf %x, %one : tensor<1024xf32>
    tile.store %q, %y : tensor<1024x!tile.ptr<f32>>
    scf.yield %y : tensor<1024xf32>
  }
  tile.return
}

// Reshapes accept any layout: a block stored through a descriptor keeps the layout of the dot.
// CHECK-LABEL: tile.kernel @reshaped
// CHECK: scf.for
// CHECK-NOT: cta.convert_layout
// CHECK: tile.desc_store
tile.kernel @reshaped(%d: !tile.desc<1x32x32xf16>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %ab = arith.constant dense<2.0> : tensor<32x32xf16>
  %acc = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<32x32xf32>) : i32 {
    %p = tile.dot %ab, %ab, %a : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
    scf.yield %p : tensor<32x32xf32>
  }
  %h = arith.truncf %acc : tensor<32x32xf32> to tensor<32x32xf16>
  %block = tile.reshape %h : tensor<32x32xf16> -> tensor<1x32x32xf16>
  tile.desc_store %d[%c0, %c0, %c0], %block : !tile.desc<1x32x32xf16>, tensor<1x32x32xf16>
  tile.return
}

// Rows of a dot's result, their maximum and the differences: one reduction is small, so both uses keep the dot's layout.
// CHECK-LABEL: tile.kernel @two_uses
// CHECK: %[[P:.*]] = tile.dot
// CHECK-NOT: cta.convert_layout %[[P]]
// CHECK: tile.reduce
// CHECK: arith.subf %[[P]]
tile.kernel @two_uses(%d: !tile.desc<32x32xf16>) {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %ab = arith.constant dense<2.0> : tensor<32x32xf16>
  %p = tile.dot %ab, %ab, %zero : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
  %max = tile.reduce %p {axis = 1 : i32} : tensor<32x32xf32> -> tensor<32xf32> {
  ^bb0(%x: f32, %y: f32):
    %m = arith.maximumf %x, %y : f32
    tile.yield %m : f32
  }
  %column = tile.expand_dims %max {axis = 1 : i32} : tensor<32xf32> -> tensor<32x1xf32>
  %wide = tile.broadcast %column : tensor<32x1xf32> -> tensor<32x32xf32>
  %less = arith.subf %p, %wide : tensor<32x32xf32>
  %h = arith.truncf %less : tensor<32x32xf32> to tensor<32x32xf16>
  tile.desc_store %d[%c0, %c0], %h : !tile.desc<32x32xf16>, tensor<32x32xf16>
  tile.return
}

// SiLU uses the accumulator twice: all of its arithmetic is in the dot's layout, and only its result is converted.
// CHECK-LABEL: tile.kernel @activation
// CHECK: %[[P:.*]] = tile.dot
// CHECK-NOT: cta.convert_layout %[[P]]
// CHECK: arith.mulf %[[P]]
// CHECK: %[[H:.*]] = arith.truncf
// CHECK: cta.convert_layout %[[H]]
// CHECK-NOT: cta.convert_layout
// CHECK: tile.store
tile.kernel @activation(%c: !tile.ptr<f16> {tile.divisibility = 16 : i32}) {
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %one = arith.constant dense<1.0> : tensor<32x32xf32>
  %ab = arith.constant dense<2.0> : tensor<32x32xf16>
  %p = tile.dot %ab, %ab, %zero : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
  %less = arith.negf %p : tensor<32x32xf32>
  %e = math.exp %less : tensor<32x32xf32>
  %sum = arith.addf %e, %one : tensor<32x32xf32>
  %s = arith.divf %one, %sum : tensor<32x32xf32>
  %y = arith.mulf %p, %s : tensor<32x32xf32>
  %h = arith.truncf %y : tensor<32x32xf32> to tensor<32x32xf16>
  %r = tile.arange 0 to 32 : tensor<32xi32>
  %column = tile.expand_dims %r {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %wide = tile.broadcast %column : tensor<32x1xi32> -> tensor<32x32xi32>
  %c32 = arith.constant dense<32> : tensor<32x32xi32>
  %rows = arith.muli %wide, %c32 : tensor<32x32xi32>
  %row = tile.expand_dims %r {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %cols = tile.broadcast %row : tensor<1x32xi32> -> tensor<32x32xi32>
  %at = arith.addi %rows, %cols : tensor<32x32xi32>
  %base = tile.splat %c : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>>
  %q = tile.addptr %base, %at : tensor<32x32x!tile.ptr<f16>>, tensor<32x32xi32>
  tile.store %q, %h : tensor<32x32x!tile.ptr<f16>>
  tile.return
}

// An addend of an accumulator through a descriptor has half the bytes in memory, so it is converted and not the accumulator.
// CHECK-LABEL: tile.kernel @residual
// CHECK: %[[P:.*]] = tile.dot
// CHECK-NOT: cta.convert_layout %[[P]]
// CHECK: %[[R:.*]] = tile.load
// CHECK: cta.convert_layout %[[R]]
// CHECK-NOT: cta.convert_layout
// CHECK: tile.desc_store
tile.kernel @residual(%d: !tile.desc<32x32xf16>, %q: !tile.ptr<f16> {tile.divisibility = 16 : i32}) {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %ab = arith.constant dense<2.0> : tensor<32x32xf16>
  %p = tile.dot %ab, %ab, %zero : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
  %half = arith.constant dense<0.5> : tensor<32x32xf32>
  %scaled = arith.mulf %p, %half : tensor<32x32xf32>
  %r = tile.arange 0 to 32 : tensor<32xi32>
  %column = tile.expand_dims %r {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %wide = tile.broadcast %column : tensor<32x1xi32> -> tensor<32x32xi32>
  %c32 = arith.constant dense<32> : tensor<32x32xi32>
  %rows = arith.muli %wide, %c32 : tensor<32x32xi32>
  %row = tile.expand_dims %r {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %cols = tile.broadcast %row : tensor<1x32xi32> -> tensor<32x32xi32>
  %at = arith.addi %rows, %cols : tensor<32x32xi32>
  %base = tile.splat %q : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>>
  %ptrs = tile.addptr %base, %at : tensor<32x32x!tile.ptr<f16>>, tensor<32x32xi32>
  %res = tile.load %ptrs : tensor<32x32x!tile.ptr<f16>>
  %wider = arith.extf %res : tensor<32x32xf16> to tensor<32x32xf32>
  %sum = arith.addf %scaled, %wider : tensor<32x32xf32>
  %gate = math.tanh %sum : tensor<32x32xf32>
  %y = arith.mulf %sum, %gate : tensor<32x32xf32>
  %h = arith.truncf %y : tensor<32x32xf32> to tensor<32x32xf16>
  tile.desc_store %d[%c0, %c0], %h : !tile.desc<32x32xf16>, tensor<32x32xf16>
  tile.return
}

// A loop carries a sum in the dot's layout, although each iteration stores it: only the stored value is converted.
// CHECK-LABEL: tile.kernel @state
// CHECK: scf.for
// CHECK-NOT: cta.convert_layout %{{.*}} : tensor<32x32xf32
// CHECK: tile.store
// CHECK-NOT: cta.convert_layout %{{.*}} : tensor<32x32xf32
// CHECK: scf.yield
tile.kernel @state(%o: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %n: i32, %decay: f32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %ab = arith.constant dense<2.0> : tensor<32x32xf16>
  %r = tile.arange 0 to 32 : tensor<32xi32>
  %column = tile.expand_dims %r {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %wide = tile.broadcast %column : tensor<32x1xi32> -> tensor<32x32xi32>
  %c32 = arith.constant dense<32> : tensor<32x32xi32>
  %rows = arith.muli %wide, %c32 : tensor<32x32xi32>
  %row = tile.expand_dims %r {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %cols = tile.broadcast %row : tensor<1x32xi32> -> tensor<32x32xi32>
  %at = arith.addi %rows, %cols : tensor<32x32xi32>
  %base = tile.splat %o : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>>
  %ptrs = tile.addptr %base, %at : tensor<32x32x!tile.ptr<f16>>, tensor<32x32xi32>
  %factor = tile.splat %decay : f32 -> tensor<32x32xf32>
  %final = scf.for %i = %c0 to %n step %c1 iter_args(%state = %zero) -> (tensor<32x32xf32>) : i32 {
    %h = arith.truncf %state : tensor<32x32xf32> to tensor<32x32xf16>
    tile.store %ptrs, %h : tensor<32x32x!tile.ptr<f16>>
    %less = arith.mulf %state, %factor : tensor<32x32xf32>
    %more = tile.dot %ab, %ab, %less : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
    scf.yield %more : tensor<32x32xf32>
  }
  tile.return
}

// Each thread loads the scales of its rows and columns, without an exchange; a volatile value is loaded once.
// CHECK-LABEL: tile.kernel @vectors
// CHECK: tile.load
// CHECK: tile.load
// CHECK-NOT: cta.convert_layout %{{.*}} : tensor<32xf32
// CHECK: tile.desc_store
// CHECK: tile.load {{.*}} volatile
// CHECK: cta.convert_layout %{{.*}} : tensor<32xf32
tile.kernel @vectors(%d: !tile.desc<32x32xf32>, %s: !tile.ptr<f32> {tile.divisibility = 16 : i32}) {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %ab = arith.constant dense<2.0> : tensor<32x32xf16>
  %p = tile.dot %ab, %ab, %zero : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
  %r = tile.arange 0 to 32 : tensor<32xi32>
  %base = tile.splat %s : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>>
  %ptrs = tile.addptr %base, %r : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
  %g = tile.load %ptrs : tensor<32x!tile.ptr<f32>>
  %column = tile.expand_dims %g {axis = 1 : i32} : tensor<32xf32> -> tensor<32x1xf32>
  %ofRows = tile.broadcast %column : tensor<32x1xf32> -> tensor<32x32xf32>
  %row = tile.expand_dims %g {axis = 0 : i32} : tensor<32xf32> -> tensor<1x32xf32>
  %ofColumns = tile.broadcast %row : tensor<1x32xf32> -> tensor<32x32xf32>
  %x = arith.mulf %p, %ofRows : tensor<32x32xf32>
  %y = arith.mulf %x, %ofColumns : tensor<32x32xf32>
  tile.desc_store %d[%c0, %c0], %y : !tile.desc<32x32xf32>, tensor<32x32xf32>
  %v = tile.load %ptrs volatile : tensor<32x!tile.ptr<f32>>
  %more = tile.expand_dims %v {axis = 1 : i32} : tensor<32xf32> -> tensor<32x1xf32>
  %ofMore = tile.broadcast %more : tensor<32x1xf32> -> tensor<32x32xf32>
  %z = arith.mulf %y, %ofMore : tensor<32x32xf32>
  tile.desc_store %d[%c0, %c0], %z : !tile.desc<32x32xf32>, tensor<32x32xf32>
  tile.return
}

// A vector that becomes a row is itself converted.
// CHECK-LABEL: tile.kernel @row
// CHECK: %[[X:.*]] = tile.load
// CHECK: %[[V:.*]] = cta.convert_layout %[[X]] : tensor<256xf32
// CHECK: tile.expand_dims %[[V]]
// CHECK-NOT: cta.convert_layout
// CHECK: tile.desc_store
tile.kernel @row(%d: !tile.desc<32x256xf32>, %p: !tile.ptr<f32> {tile.divisibility = 16 : i32}) {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant dense<0.0> : tensor<32x256xf32>
  %a = arith.constant dense<2.0> : tensor<32x32xf16>
  %b = arith.constant dense<2.0> : tensor<32x256xf16>
  %dot = tile.dot %a, %b, %zero : tensor<32x32xf16>, tensor<32x256xf16> -> tensor<32x256xf32>
  %r = tile.arange 0 to 256 : tensor<256xi32>
  %s = tile.splat %p : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>>
  %q = tile.addptr %s, %r : tensor<256x!tile.ptr<f32>>, tensor<256xi32>
  %x = tile.load %q : tensor<256x!tile.ptr<f32>>
  %row = tile.expand_dims %x {axis = 0 : i32} : tensor<256xf32> -> tensor<1x256xf32>
  %wide = tile.broadcast %row : tensor<1x256xf32> -> tensor<32x256xf32>
  %sum = arith.addf %dot, %wide : tensor<32x256xf32>
  tile.desc_store %d[%c0, %c0], %sum : !tile.desc<32x256xf32>, tensor<32x256xf32>
  tile.return
}

// Values that a loop computes from accumulators, and from their row sums, keep their layout.
// CHECK-LABEL: tile.kernel @gradient
// CHECK: scf.for
// CHECK: tile.reduce
// CHECK-NOT: cta.convert_layout
// CHECK: scf.yield
tile.kernel @gradient(%d: !tile.desc<32x32xf32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %none = arith.constant dense<0.0> : tensor<32xf32>
  %ab = arith.constant dense<2.0> : tensor<32x32xf16>
  %last, %sums = scf.for %i = %c0 to %n step %c1 iter_args(%x = %zero, %old = %none) -> (tensor<32x32xf32>, tensor<32xf32>) : i32 {
    %dot = tile.dot %ab, %ab, %zero : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
    %product = arith.mulf %dot, %x : tensor<32x32xf32>
    %sum = tile.reduce %product {axis = 1 : i32} : tensor<32x32xf32> -> tensor<32xf32> {
    ^bb0(%y: f32, %z: f32):
      %yz = arith.addf %y, %z : f32
      tile.yield %yz : f32
    }
    %share = arith.divf %old, %sum : tensor<32xf32>
    %column = tile.expand_dims %share {axis = 1 : i32} : tensor<32xf32> -> tensor<32x1xf32>
    %wide = tile.broadcast %column : tensor<32x1xf32> -> tensor<32x32xf32>
    %scaled = arith.mulf %wide, %x : tensor<32x32xf32>
    %next = arith.addf %dot, %scaled : tensor<32x32xf32>
    scf.yield %next, %sum : tensor<32x32xf32>, tensor<32xf32>
  }
  tile.desc_store %d[%c0, %c0], %last : !tile.desc<32x32xf32>, tensor<32x32xf32>
  tile.return
}

// A loop without dots that reduces the columns of an earlier product has lanes along rows.
// CHECK-LABEL: tile.kernel @substitution
// CHECK: %[[D:.*]] = tile.dot
// CHECK: cta.convert_layout %[[D]] : {{.*}} -> tensor<32x32xf32, #[[ROWS:.*]]>
// CHECK: scf.for {{.*}} -> (tensor<32x32xf32, #[[ROWS]]>)
// CHECK: scf.yield %{{.*}} : tensor<32x32xf32, #[[ROWS]]>
tile.kernel @substitution(%d: !tile.desc<32x32xf32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %ab = arith.constant dense<2.0> : tensor<32x32xf16>
  %dot = tile.dot %ab, %ab, %zero : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%x = %dot) -> (tensor<32x32xf32>) : i32 {
    %sum = tile.reduce %x {axis = 0 : i32} : tensor<32x32xf32> -> tensor<32xf32> {
    ^bb0(%y: f32, %z: f32):
      %yz = arith.addf %y, %z : f32
      tile.yield %yz : f32
    }
    %row = tile.expand_dims %sum {axis = 0 : i32} : tensor<32xf32> -> tensor<1x32xf32>
    %wide = tile.broadcast %row : tensor<1x32xf32> -> tensor<32x32xf32>
    %next = arith.addf %x, %wide : tensor<32x32xf32>
    scf.yield %next : tensor<32x32xf32>
  }
  tile.desc_store %d[%c0, %c0], %last : !tile.desc<32x32xf32>, tensor<32x32xf32>
  tile.return
}

// An addend of a rounded result is loaded in the layout of the store: one conversion, of the rounded result, instead of two.
// CHECK-LABEL: tile.kernel @added_to_output
// CHECK: %[[ROUNDED:.*]] = arith.truncf
// CHECK: cta.convert_layout %[[ROUNDED]]
// CHECK-NOT: cta.convert_layout
// CHECK: tile.store
tile.kernel @added_to_output(%p: !tile.ptr<f16> {tile.divisibility = 16 : i32}) {
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %a = arith.constant dense<2.0> : tensor<32x32xf16>
  %r = tile.arange 0 to 1024 : tensor<1024xi32>
  %m = tile.reshape %r : tensor<1024xi32> -> tensor<32x32xi32>
  %s = tile.splat %p : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>>
  %q = tile.addptr %s, %m : tensor<32x32x!tile.ptr<f16>>, tensor<32x32xi32>
  %dot = tile.dot %a, %a, %zero : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
  %rounded = arith.truncf %dot : tensor<32x32xf32> to tensor<32x32xf16>
  %x = tile.load %q : tensor<32x32x!tile.ptr<f16>>
  %sum = arith.addf %rounded, %x : tensor<32x32xf16>
  tile.store %q, %sum : tensor<32x32x!tile.ptr<f16>>
  tile.return
}
