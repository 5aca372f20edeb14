// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which memory a pointer or a descriptor may reach, by the kernel's parameters.
//
//   %p = tile.addptr %x, %i                                x
//   scf.for … iter_args(%q = %p) { … yield (%q + 4) }      x
//   %r = arith.select %c, %p, %y                           x, y
//   %t = tile.load %x; %s = tile.address_cast %t           *x: what addresses point to that are found through x
//   a tensor map that the launcher makes of parameter x    x
//   a tensor map that is read from memory                  anything
//
// Different parameters are taken for different memory, as the language has it. What is found through a parameter is
// taken for other memory than every parameter, and than what is found through others.
#pragma once

#include "Tile/TileDialect.h"

#include "llvm/ADT/SmallVector.h"

namespace tile {

class PointerBases {
public:
  /// Of a pointer, a tensor of pointers, a descriptor or an address.
  static PointerBases of(mlir::Value address);

  /// What a store, by TMA or not, or an atomic operation writes; empty for other operations.
  static PointerBases writtenBy(mlir::Operation *op);

  bool mayOverlap(const PointerBases &other) const;
  /// Whether anything was added.
  bool join(const PointerBases &other);
  bool isEmpty() const { return names.empty() && !isAnything; }
  void clear() { *this = PointerBases(); }

private:
  void add(mlir::StringAttr name);

  llvm::SmallVector<mlir::StringAttr, 2> names;
  bool isAnything = false;
};

} // namespace tile
