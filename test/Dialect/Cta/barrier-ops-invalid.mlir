// RUN: tile-opt %s --verify-diagnostics --split-input-file

// expected-error @below {{mbarrier ring has 0 slots but needs at least 1}}
func.func private @slots(!cta.mbarrier<0>)

// -----

tile.kernel @none() {
  // expected-error @below {{'cta.mbarrier_alloc' op expects 0 arrivals; expected 1 to 1048575}}
  %m = cta.mbarrier_alloc arrivals 0 : !cta.mbarrier<4>
  tile.return
}

// -----

tile.kernel @far() {
  // expected-error @below {{'cta.mbarrier_alloc' op is at byte 2147483647 of shared memory; expected 0 to 1048575}}
  %m = cta.mbarrier_alloc arrivals 4 at 2147483647 : !cta.mbarrier<6>
  tile.return
}

// -----

tile.kernel @many() {
  // expected-error @below {{'cta.mbarrier_alloc' op expects 1048576 arrivals; expected 1 to 1048575}}
  %m = cta.mbarrier_alloc arrivals 1048576 : !cta.mbarrier<4>
  tile.return
}
