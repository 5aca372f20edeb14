// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verification of atomic operations.
#include "Tile/MemoryOps.h"
#include "Tile/TileDialect.h"

using namespace mlir;
using namespace tile;

LogicalResult AtomicRmwOp::verify() {
  Type element = getElementTypeOf(getValue().getType());
  unsigned bits = element.getIntOrFloatBitWidth();
  bool isFloat = isa<FloatType>(element);
  if (getKind() == AtomicKind::fmax || getKind() == AtomicKind::fmin) {
    if (element.isF16() || element.isBF16())
      return verifyVector(*this, getVector());
    return emitOpError() << "has kind '" << stringifyAtomicKind(getKind()) << "' with elements of " << element
                         << "; expected f16 or bf16";
  }
  if (isFloat && getKind() != AtomicKind::add && getKind() != AtomicKind::xchg)
    return emitOpError() << "has kind '" << stringifyAtomicKind(getKind()) << "' with elements of " << element
                         << "; floats support add and xchg";
  bool isKnown = isFloat && getKind() == AtomicKind::add ? bits >= 16 : bits == 32 || bits == 64;
  if (!isKnown)
    return emitOpError() << "updates " << element << "; atomic " << stringifyAtomicKind(getKind())
                         << (isFloat && getKind() == AtomicKind::add ? " takes floats of 16 bits or more"
                                                                     : " takes 32 or 64 bits");
  return verifyVector(*this, getVector());
}

LogicalResult AtomicCasOp::verify() {
  Type element = getElementTypeOf(getValue().getType());
  unsigned bits = element.getIntOrFloatBitWidth();
  if (bits != 16 && bits != 32 && bits != 64)
    return emitOpError() << "compares " << element << "; expected 16, 32 or 64 bits";
  return success();
}
