// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The interface of engines: hardware-specific attributes, declared in dialects that model hardware.
#ifndef TILE_ENGINE_TD
#define TILE_ENGINE_TD

include "mlir/IR/OpBase.td"

def Tile_Engine : AttrInterface<"Engine"> {
  let cppNamespace = "::tile";
  let description = [{
    Describes how a dot is computed: by which instruction, and by which grid of warps or warp groups. The program only
    specifies what is multiplied. `tile-choose-engine` chooses the engine, and all other passes read it.
  }];
  let methods = [
    InterfaceMethod<"Fails, after reporting an error at the dot, if the engine does not fit the `tile.dot`.",
                    "::llvm::LogicalResult", "verifyDot", (ins "::mlir::Operation *":$dot)>,
    InterfaceMethod<"Returns the number of warps that compute the dot; nullopt if any number can.",
                    "::std::optional<unsigned>", "getNumWarps">
  ];
}

#endif
