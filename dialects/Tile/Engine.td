// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The interface of what multiplies: attributes of hardware, in dialects that know some.
#ifndef TILE_ENGINE_TD
#define TILE_ENGINE_TD

include "mlir/IR/OpBase.td"

def Tile_Engine : AttrInterface<"Engine"> {
  let cppNamespace = "::tile";
  let description = [{
    What computes a product, and how: the instruction and the grid of those that execute it. A program says what is
    multiplied; `tile-choose-engine` writes by what, and all other passes read it.
  }];
  let methods = [
    InterfaceMethod<"Fails, after an error at the dot, if the engine does not multiply what the `tile.dot` says.",
                    "::llvm::LogicalResult", "verifyDot", (ins "::mlir::Operation *":$dot)>,
    InterfaceMethod<"How many warps multiply; none if any number can.",
                    "::std::optional<unsigned>", "getNumWarps">
  ];
}

#endif
