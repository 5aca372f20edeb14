// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cta dialect: how one CTA computes a program.
#ifndef CTA_DIALECT_TD
#define CTA_DIALECT_TD

include "mlir/IR/OpBase.td"

def CtaDialect : Dialect {
  let name = "cta";
  let cppNamespace = "::tile::cta";
  let summary = "how one thread block computes a program: layouts, shared memory, asynchronous copies, tensor cores";
  let description = [{
    In phase *layout* every tensor type carries a `#cta.layout` encoding that says which thread holds which element.
    The operations of this dialect move tensors between layouts and through shared memory, and stand for the
    instructions that compute with them. All threads of the CTA execute an operation together.
  }];
  let dependentDialects = ["::tile::TileDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerTypes();
    void registerAttributes();
    /// Attaches LayoutInterface to operations of other dialects.
    void attachLayouts();
  }];
}

#endif
