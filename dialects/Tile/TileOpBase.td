// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Base classes of all tile operations.
#ifndef TILE_OP_BASE_TD
#define TILE_OP_BASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "Tile/ShapeChange.td"
include "Tile/TileDialect.td"
include "Tile/TileTypes.td"
include "Tile/TileAttrs.td"

class Tile_Op<string opMnemonic, list<Trait> traits = []> : Op<TileDialect, opMnemonic, traits>;

// Global memory as a side-effect resource: loads must not move across stores, not even across stores to other data.
def Tile_GlobalMemory : Resource<"::tile::GlobalMemory">;

#endif
