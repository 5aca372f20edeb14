// Errors after the first region of warp roles: operations outside may use values from inside.
// RUN: tile-opt %s --split-input-file --verify-diagnostics

tile.kernel @bad_role(%n: i32) {
  %q = arith.divui %inside, %n : i32
  cta.warp_roles role <consumer, warps = 4> {
    %inside = arith.constant -1 : i32
  // expected-error @below {{expected 'warps'}}
  } role <producer, threads = 1> {
  }
  tile.return
}

// -----

tile.kernel @no_region_in_loop(%n: i32) {
  %c0 = arith.constant 0 : i32
  %q = arith.addi %inside, %n : i32
  cta.warp_roles role <consumer, warps = 4> {
    scf.for %i = %c0 to %n step %n : i32 {
      %inside = arith.addi %i, %q : i32
    }
  // expected-error @below {{expected '{' to begin a region}}
  } role <producer, warps = 1, one_thread>
  tile.return
}

// -----

tile.kernel @defined_twice(%n: i32) {
  // expected-note @below {{previously defined here}}
  %x = arith.addi %inside, %n : i32
  cta.warp_roles role <consumer, warps = 4> {
    %inside = arith.constant -1 : i32
    // expected-error @below {{redefinition of SSA value '%x'}}
    %x = arith.constant 0 : i32
  } role <producer, warps = 1, one_thread> {
  }
  tile.return
}

// -----

tile.kernel @arguments() {
  // expected-error @below {{has a role with 1 arguments; roles take none}}
  "cta.warp_roles"() <{roles = [#cta.role<consumer, warps = 4>, #cta.role<producer, warps = 1, one_thread>]}> ({
  ^bb0(%x: i32):
  }, {
  ^bb0:
  }) : () -> ()
  tile.return
}

// -----

tile.kernel @regions() {
  // expected-error @below {{'cta.warp_roles' op has 2 roles and 1 regions; each role needs one}}
  "cta.warp_roles"() <{roles = [#cta.role<consumer, warps = 4>, #cta.role<producer, warps = 1, one_thread>]}> ({
  ^bb0:
  }) : () -> ()
  tile.return
}
