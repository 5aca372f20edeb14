// Which parameters of the kernel a pointer may point into.
//
//   %p = tile.addptr %x, %i                                {x}
//   scf.for … iter_args(%q = %p) { … yield (%q + 4) }      {x}
//   %r = arith.select %c, %p, %y                           {x, y}
//   %s = tile.address_cast %number                         anything
//
// Different parameters are taken for different memory, as the language has it.
#pragma once

#include "Tile/TileDialect.h"

#include "llvm/ADT/SmallVector.h"

namespace tile {

class PointerBases {
public:
  /// Of a pointer or a tensor of pointers.
  static PointerBases of(mlir::Value pointer);

  bool mayOverlap(const PointerBases &other) const;
  /// Whether anything was added.
  bool join(const PointerBases &other);
  void clear() { *this = PointerBases(); }

private:
  llvm::SmallVector<mlir::Value, 2> parameters;
  bool isAnything = false;
};

} // namespace tile
