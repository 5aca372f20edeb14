// RUN: not tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-allocate-shared{target=sm_1}))' 2>&1 | FileCheck %s

// CHECK: unknown target 'sm_1'; known are sm_75
tile.kernel @k() {
  tile.return
}
