// Errors after the first region of warp roles: what is outside may use values inside.
// RUN: tile-opt %s --split-input-file --verify-diagnostics

tile.kernel @no_producer(%n: i32) {
  %q = arith.divui %inside, %n : i32
  cta.warp_roles consumer {
    %inside = arith.constant -1 : i32
  }
  // expected-error @below {{custom op 'cta.warp_roles' expected 'producer'}}
  tile.return
}

// -----

tile.kernel @no_producer_in_loop(%n: i32) {
  %c0 = arith.constant 0 : i32
  %q = arith.addi %inside, %n : i32
  cta.warp_roles consumer {
    scf.for %i = %c0 to %n step %n : i32 {
      %inside = arith.addi %i, %q : i32
    }
  }
  // expected-error @below {{custom op 'cta.warp_roles' expected 'producer'}}
  tile.return
}

// -----

tile.kernel @defined_twice(%n: i32) {
  // expected-note @below {{previously defined here}}
  %x = arith.addi %inside, %n : i32
  cta.warp_roles consumer {
    %inside = arith.constant -1 : i32
    // expected-error @below {{redefinition of SSA value '%x'}}
    %x = arith.constant 0 : i32
  } producer {
  }
  tile.return
}

// -----

tile.kernel @arguments() {
  // expected-error @below {{has a role with 1 arguments; roles take none}}
  "cta.warp_roles"() ({
  ^bb0(%x: i32):
  }, {
  ^bb0:
  }) : () -> ()
  tile.return
}
