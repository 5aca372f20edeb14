// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tile dialect: what one program (one CTA's worth of work) computes, with value semantics on tensors.
#ifndef TILE_DIALECT_TD
#define TILE_DIALECT_TD

include "mlir/IR/OpBase.td"

def TileDialect : Dialect {
  let name = "tile";
  let cppNamespace = "::tile";
  let summary = "what one program computes: tensors, pointers, loads, stores, dots and reductions";
  let description = [{
    A `tile.kernel` is run once for every point of a launch grid; each run is a *program*. Programs share nothing but
    global memory. Inside a program, values are scalars or statically shaped tensors. Programs may have blocks of any
    size; `tile-pad-blocks` pads all dimensions to powers of two, because layouts require them. Element-wise arithmetic
    is upstream `arith` and `math`; structured control flow is upstream `scf`.

    The operations say nothing about threads. The same operations are legal on tensors without an encoding (phase
    *tile*) and on tensors with `#cta.layout` encodings (phase *layout*).
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerTypes();
    void registerAttributes();
  }];
}

#endif
