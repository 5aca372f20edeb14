// RUN: tile-opt %s --verify-diagnostics --split-input-file

tile.kernel @few() {
  // expected-error @below {{'cta.warp_roles' op gives a role 16 registers; possible are multiples of 8 from 24 to 256}}
  cta.warp_roles consumer {
    cta.barrier
  } producer {
    cta.barrier
  } {consumer_registers = 240 : i32, producer_registers = 16 : i32}
  tile.return
}

// -----

tile.kernel @many() {
  // expected-error @below {{'cta.warp_roles' op gives a role 264 registers; possible are multiples of 8 from 24 to 256}}
  cta.warp_roles consumer {
    cta.barrier
  } producer {
    cta.barrier
  } {consumer_registers = 264 : i32, producer_registers = 24 : i32}
  tile.return
}

// -----

tile.kernel @multiple() {
  // expected-error @below {{'cta.warp_roles' op gives a role 100 registers; possible are multiples of 8 from 24 to 256}}
  cta.warp_roles consumer {
    cta.barrier
  } producer {
    cta.barrier
  } {consumer_registers = 100 : i32, producer_registers = 24 : i32}
  tile.return
}

// -----

tile.kernel @one() {
  // expected-error @below {{'cta.warp_roles' op gives one role a number of registers but not the other}}
  cta.warp_roles consumer {
    cta.barrier
  } producer {
    cta.barrier
  } {consumer_registers = 240 : i32}
  tile.return
}

// -----

tile.kernel @three() {
  // expected-error @below {{'cta.turn_begin' op is for 3 teams; possible are 2}}
  cta.turn_begin of 3 teams
  tile.return
}

// -----

tile.kernel @alone() {
  // expected-error @below {{'cta.turn_open' op is for 1 warp groups; possible are 2 and more}}
  cta.turn_open of 1
  tile.return
}
