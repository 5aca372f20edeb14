// RUN: tile-opt %s --pass-pipeline='builtin.module(nvvm-lower-control-flow)' --verify-diagnostics

// expected-error @below {{'tile.kernel' op is no function of one thread; convert-cta-to-nvvm makes one of it}}
tile.kernel @kernel(%n: i32, %c: i1) {
  scf.if %c {
    tile.print "" %n : i32
  }
  tile.return
}
