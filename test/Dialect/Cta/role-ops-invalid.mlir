// RUN: tile-opt %s --verify-diagnostics --split-input-file

tile.kernel @few() {
  // expected-error @below {{role 'consumer' has 16 registers per thread; expected a multiple of 8 from 24 to 256}}
  cta.warp_roles role <consumer, warps = 4, registers = 16> {
  }
  tile.return
}

// -----

tile.kernel @many() {
  // expected-error @below {{role 'consumer' has 264 registers per thread; expected a multiple of 8 from 24 to 256}}
  cta.warp_roles role <consumer, warps = 4, registers = 264> {
  }
  tile.return
}

// -----

tile.kernel @multiple() {
  // expected-error @below {{role 'consumer' has 100 registers per thread; expected a multiple of 8 from 24 to 256}}
  cta.warp_roles role <consumer, warps = 4, registers = 100> {
  }
  tile.return
}

// -----

tile.kernel @no_warps() {
  // expected-error @below {{role 'consumer' has 0 warps; expected 1 to 32}}
  cta.warp_roles role <consumer, warps = 0> {
  }
  tile.return
}

// -----

tile.kernel @wide_teams() {
  // expected-error @below {{role 'consumer' has 2 teams of 8 warps; expected one team, or two of 4 warps}}
  cta.warp_roles role <consumer, warps = 8, teams = 2> {
  }
  tile.return
}

// -----

tile.kernel @many_teams() {
  // expected-error @below {{role 'consumer' has 3 teams of 4 warps; expected one team, or two of 4 warps}}
  cta.warp_roles role <consumer, warps = 4, teams = 3> {
  }
  tile.return
}

// -----

tile.kernel @teams_of_one() {
  // expected-error @below {{role 'consumer' has 2 teams of one thread of 4 warps; expected one team, or two of 4 warps}}
  cta.warp_roles role <consumer, warps = 4, teams = 2, one_thread> {
  }
  tile.return
}

// -----

tile.kernel @none() {
  // expected-error @below {{'cta.warp_roles' op has 0 roles and 0 regions; each role needs one}}
  cta.warp_roles
  tile.return
}

// -----

tile.kernel @one() {
  // expected-error @below {{'cta.warp_roles' op gives 1 of 2 roles a number of registers; give it to all or none}}
  cta.warp_roles role <consumer, warps = 4, registers = 240> {
  } role <producer, warps = 4, one_thread> {
  }
  tile.return
}

// -----

tile.kernel @part_of_group() {
  // expected-error @below {{'cta.warp_roles' op sets the registers of role 'producer', which has 1 warps from warp 8 on; only whole warp groups can set them}}
  cta.warp_roles role <consumer, warps = 8, registers = 232> {
  } role <producer, warps = 1, registers = 24, one_thread> {
  }
  tile.return
}

// -----

tile.kernel @inside_group() {
  // expected-error @below {{'cta.warp_roles' op sets the registers of role 'load', which has 2 warps from warp 0 on; only whole warp groups can set them}}
  cta.warp_roles role <load, warps = 2, registers = 24, one_thread> {
  } role <consumer, warps = 4, registers = 232> {
  }
  tile.return
}

// -----

tile.kernel @too_many_registers() {
  // expected-error @below {{'cta.warp_roles' op gives its roles 68608 registers; a multiprocessor has 65536}}
  cta.warp_roles role <consumer, warps = 8, registers = 248> {
  } role <producer, warps = 4, registers = 40, one_thread> {
  }
  tile.return
}

// -----

tile.kernel @more_than_at_start() {
  // expected-error @below {{'cta.warp_roles' op gives its roles 65536 registers, but the CTA starts with 64512, 168 per thread}}
  cta.warp_roles role <consumer, warps = 8, registers = 240> {
  } role <producer, warps = 4, registers = 32, one_thread> {
  }
  tile.return
}

// -----

tile.kernel @same_name() {
  // expected-error @below {{'cta.warp_roles' op has two roles 'load'}}
  cta.warp_roles role <load, warps = 1, one_thread> {
  } role <load, warps = 1, one_thread> {
  }
  tile.return
}

// -----

tile.kernel @at_no_multiple() {
  // expected-error @below {{'cta.warp_roles' op has role 'consumer' of 4 warps at warp 1; the first warp of the role must be a multiple of 4}}
  cta.warp_roles role <load, warps = 1, one_thread> {
  } role <consumer, warps = 4> {
  }
  tile.return
}

// -----

tile.kernel @too_many_warps() {
  // expected-error @below {{'cta.warp_roles' op has 33 warps; a CTA has at most 32}}
  cta.warp_roles role <consumer, warps = 32> {
  } role <producer, warps = 1, one_thread> {
  }
  tile.return
}

// -----

tile.kernel @two_of_teams() {
  // expected-error @below {{'cta.warp_roles' op has 2 roles of several teams; at most one is allowed}}
  cta.warp_roles role <one, warps = 4, teams = 2> {
  } role <other, warps = 4, teams = 2> {
  }
  tile.return
}

// -----

tile.kernel @three() {
  // expected-error @below {{'cta.turn_begin' op is for 3 teams; expected 2}}
  cta.turn_begin of 3 teams
  tile.return
}

// -----

tile.kernel @alone() {
  // expected-error @below {{'cta.turn_open' op is for 1 warp groups; expected at least 2}}
  cta.turn_open of 1
  tile.return
}
