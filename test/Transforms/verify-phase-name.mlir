// RUN: tile-opt %s --verify-diagnostics --pass-pipeline='builtin.module(tile.kernel(tile-verify-phase{phase=late}))'

// expected-error @below {{unknown phase 'late'; known are tile, layout, async, scheduled and allocated}}
tile.kernel @k() {
  tile.return
}
