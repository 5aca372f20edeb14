// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The decoders of this folder, and the table of their instructions.
#pragma once

#include "Simulator/Exec/Decoding.h"
#include "Simulator/Exec/Matrix/TensorCore.h"

namespace tile::sim::matrix {

Result<OperationPtr> decodeMma(Decoding &d);
Result<OperationPtr> decodeMmaKind(Decoding &d); // from the suffix after `mma.sync.aligned` on
Result<OperationPtr> decodeWgmma(Decoding &d);
Result<OperationPtr> decodeLoadMatrix(Decoding &d);
Result<OperationPtr> decodeStoreMatrix(Decoding &d);
Result<OperationPtr> decodeLoadBytes(Decoding &d);  // from the suffix after `ldmatrix.sync.aligned` on
Result<OperationPtr> decodeStoreBytes(Decoding &d); // from the suffix after `stmatrix.sync.aligned` on
Result<OperationPtr> decodeTransposeMatrix(Decoding &d);

/// A shape such as m16n8k16: the integers after m, n and k.
struct Shape {
  unsigned m = 0, n = 0, k = 0;
};
std::optional<Shape> takeShape(Decoding &d);
std::optional<Element> takeElement(Decoding &d);
std::optional<Accumulator> takeAccumulator(Decoding &d);

/// Returns true if one instruction may multiply these two types: equal types, two 8-bit floats, or two integers of the
/// same width.
bool mayMultiply(Element left, Element right);
/// Returns true if the accumulator type is allowed for the operand type.
bool mayAccumulate(Element factor, Accumulator accumulator);

/// Reports an error and returns false if threads of the warp have exited: matrix instructions need all 32 (PTX ISA
/// 9.7.14).
bool isWholeWarp(const Warp &warp, const Operation &operation);

/// Copies the elements of one register of a fragment to an operand.
inline void spread(FactorBits &factor, unsigned bits, unsigned line, unsigned k, uint32_t value) {
  uint32_t mask = bits == 32 ? ~0u : (1u << bits) - 1;
  for (unsigned i = 0; i < 32 / bits; ++i)
    factor.at(k + i)[line] = value >> bits * i & mask;
}

} // namespace tile::sim::matrix
