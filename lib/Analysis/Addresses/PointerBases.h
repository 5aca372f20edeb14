// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The memory that a pointer or a descriptor may reach, in terms of the kernel's parameters.
//
//   %p = tile.addptr %x, %i                                x
//   scf.for … iter_args(%q = %p) { … yield (%q + 4) }      x
//   %r = arith.select %c, %p, %y                           x, y
//   %t = tile.load %x; %s = tile.address_cast %t           *x: memory that addresses loaded through x point to
//   a tensor map that the launcher encodes for x           x
//   a tensor map that is read from memory                  anything
//
// Different parameters are assumed to point to different memory, as the language defines. Memory reached through
// addresses that are loaded through a parameter is assumed to be distinct from the memory of every parameter, and from
// memory reached in this way through other parameters.
#pragma once

#include "Tile/TileDialect.h"

#include "llvm/ADT/SmallVector.h"

namespace tile {

class PointerBases {
public:
  /// Returns the bases of a pointer, a tensor of pointers, a descriptor or an address.
  static PointerBases of(mlir::Value address);

  /// Returns the memory that a store (by TMA or by threads) or an atomic operation writes; empty for other operations.
  static PointerBases writtenBy(mlir::Operation *op);

  bool mayOverlap(const PointerBases &other) const;
  /// Adds the bases of `other`; returns true if this adds a new one.
  bool join(const PointerBases &other);
  bool isEmpty() const { return names.empty() && !isUnknown; }
  void clear() { *this = PointerBases(); }

private:
  void add(mlir::StringAttr name);

  llvm::SmallVector<mlir::StringAttr, 2> names;
  bool isUnknown = false;
};

} // namespace tile
