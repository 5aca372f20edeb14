// RUN: tile-opt %s | tile-opt | FileCheck %s

// CHECK: module attributes {cta.target = #cta.target<sm_100a>}
module attributes {cta.target = #cta.target<sm_100a>} {
}
