// RUN: tile-opt %s --pass-pipeline='builtin.module(nvvm-lower-control-flow)' --verify-diagnostics

tile.kernel @kernel(%n: i32, %c: i1) {
  // expected-error @below {{'scf.if' op is in no function of one thread; convert-cta-to-nvvm makes one of a kernel}}
  scf.if %c {
    tile.print "" %n : i32
  }
  tile.return
}
