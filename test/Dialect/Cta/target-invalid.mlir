// RUN: tile-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{unknown target 'sm_1'; expected one of sm_75, sm_80}}
module attributes {cta.target = #cta.target<sm_1>} {
}

// -----

// expected-error @+1 {{has 'cta.target = "sm_80"'; expected a #cta.target on a module}}
module attributes {cta.target = "sm_80"} {
}

// -----

module {
  // expected-error @+1 {{has 'cta.target = #cta.target<sm_80>'; expected a #cta.target on a module}}
  func.func private @f() attributes {cta.target = #cta.target<sm_80>}
}

// -----

// expected-error @+1 {{has the attribute 'cta.taget'; the cta dialect defines only 'cta.target'}}
module attributes {cta.taget = #cta.target<sm_80>} {
}
