// RUN: tile-opt %s --cta-attach-target=name=sm_80 --convert-cta-to-nvvm -verify-diagnostics

tile.kernel @rank(%p: !tile.ptr<i32>) {
  // expected-error @+1 {{'cta.cluster_rank' op needs clusters, which sm_80 lacks; sm_90 and later have them}}
  %r = cta.cluster_rank
  tile.store %p, %r : !tile.ptr<i32>
  tile.return
}
