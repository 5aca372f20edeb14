// RUN: tile-opt %s --verify-diagnostics --pass-pipeline='builtin.module(tile.kernel(tile-verify-phase{phase=late}))'

// expected-error @below {{unknown phase 'late'; expected tile, layout, async, scheduled or allocated}}
tile.kernel @k() {
  tile.return
}
