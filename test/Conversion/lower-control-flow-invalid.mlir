// RUN: tile-opt %s --pass-pipeline='builtin.module(nvvm-lower-control-flow)' --verify-diagnostics

tile.kernel @kernel(%n: i32, %c: i1) {
  // expected-error @below {{'scf.if' op is not in a lowered (per-thread) function; run convert-cta-to-nvvm first}}
  scf.if %c {
    tile.print "" %n : i32
  }
  tile.return
}
