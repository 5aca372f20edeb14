// Layouts require sizes that are powers of two.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-assign-layouts))' --verify-diagnostics

tile.kernel @size() {
  // expected-error @below {{tensor 'tensor<48xi32>' has a size that is not a power of two; run tile-pad-blocks first}}
  %r = tile.arange 0 to 48 : tensor<48xi32>
  tile.return
}
