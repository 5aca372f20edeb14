// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The interface of engines: hardware-specific attributes, declared in dialects that model hardware.
#ifndef TILE_ENGINE_TD
#define TILE_ENGINE_TD

include "mlir/IR/OpBase.td"

def Tile_Engine : AttrInterface<"Engine"> {
  let cppNamespace = "::tile";
  let description = [{
    Describes how a dot is computed: the instruction, and the grid of warps or warp groups that execute it. The program
    says what is multiplied; `tile-choose-engine` chooses the engine, and all other passes read it.
  }];
  let methods = [
    InterfaceMethod<"Fails, after an error at the dot, if the engine does not multiply what the `tile.dot` says.",
                    "::llvm::LogicalResult", "verifyDot", (ins "::mlir::Operation *":$dot)>,
    InterfaceMethod<"How many warps multiply; none if any number can.",
                    "::std::optional<unsigned>", "getNumWarps">
  ];
}

#endif
