// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Simulator/Exec/Tensor/Mma.h"

#include <algorithm>

namespace tile::sim::tensor {

namespace {

using matrix::BlockScales;
using matrix::FactorBits;

/// Returns element `index` of a chunk. The elements have `bits` bits and are consecutive.
uint32_t elementAt(const std::byte *chunk, unsigned bits, unsigned index) {
  const unsigned first = bits * index;
  uint64_t word = 0;
  std::memcpy(&word, chunk + first / 8, std::min<size_t>(sizeof(word), chunkBytes - first / 8));
  return uint32_t(word >> first % 8 & ((uint64_t(1) << bits) - 1));
}

void readShared(Cta &cta, const SharedMatrix &matrix, matrix::Element element, unsigned firstLine, FactorBits &into) {
  const unsigned bits = bitsOf(element);
  matrix.forChunks([&](uint32_t address, unsigned line, unsigned k) {
    const std::byte *chunk = cta.shared(address, chunkBytes);
    for (unsigned i = 0; i < matrix.perChunk; ++i) {
      const unsigned at = matrix.isLineMajor ? line + i : line;
      if (at < matrix.lines)
        into.at(matrix.isLineMajor ? k : k + i)[firstLine + at] = elementAt(chunk, bits, i);
    }
  });
}

void negate(FactorBits &factor, matrix::Element element) {
  const uint32_t sign = 1u << (bitsOf(element) - 1);
  for (uint32_t &bits : factor.bits)
    bits ^= sign;
}

/// Returns `lines` lines of an operand from line `first` on.
FactorBits slice(const FactorBits &from, unsigned first, unsigned lines) {
  FactorBits part(lines, from.depth);
  for (unsigned k = 0; k < from.depth; ++k)
    std::copy_n(from.at(k) + first, lines, part.at(k));
  return part;
}

} // namespace

bool MmaIssue::disablesAny() const {
  return std::any_of(&disabledLanes[0][0], &disabledLanes[0][0] + sizeof(disabledLanes) / sizeof(uint32_t),
                     [](uint32_t mask) { return mask != 0; });
}

ScaleCell scaleCell(const MmaIssue &issue, bool isRight, unsigned line, unsigned warp) {
  const TensorAddress &base = isRight ? issue.scales.right : issue.scales.left;
  const Placement placement = issue.placement();
  if (isRight && placement.parts == 2)
    line %= placement.partColumns;
  return {warp * tensorLanesOfWarp + line % tensorLanesOfWarp, base.column + line / tensorLanesOfWarp};
}

FactorBits MmaOperation::readLeft(Cta &cta, unsigned part) const {
  const MmaShape &shape = issue.shape;
  const Placement placement = issue.placement();
  FactorBits left(placement.rows, shape.k);
  if (!issue.form.leftInTensor) {
    readShared(cta, issue.leftMatrix(), shape.traits.left, 0, left);
  } else {
    const unsigned bits = 256 / shape.k, perColumn = 32 / bits;
    for (unsigned row = 0; row < placement.rows; ++row)
      for (unsigned k = 0; k < shape.k; ++k) {
        const uint32_t word = cta.tensor.at(issue.leftInTensor.lane + placement.lane(row, part * placement.partColumns),
                                            issue.leftInTensor.column + k / perColumn);
        left.at(k)[row] = word >> k % perColumn * bits & uint32_t((uint64_t(1) << bits) - 1);
      }
  }
  if (shape.negateLeft)
    negate(left, shape.traits.left);
  return left;
}

/// Returns the columns of B of all CTAs.
FactorBits MmaOperation::readRight() const {
  const MmaShape &shape = issue.shape;
  FactorBits right(shape.n, shape.k);
  for (unsigned i = 0; i < issue.ctas.size(); ++i)
    readShared(*issue.ctas[i], issue.rightMatrix(), shape.traits.right, i * issue.rightLines(), right);
  if (shape.negateRight)
    negate(right, shape.traits.right);
  return right;
}

/// Multiplies in parts, because each warp's part of the data path has separate scales: 32 rows, and a part of the
/// columns if they are split.
void MmaOperation::multiplyScaled(Cta &cta, const FactorBits &left, const FactorBits &right,
                                  std::vector<uint32_t> &accumulators) const {
  const Placement placement = issue.placement();
  const unsigned vector = issue.form.scaleVector, step = tensorLanesOfWarp;
  auto scalesOf = [&](bool isRight, unsigned first, unsigned lines, unsigned warp) {
    BlockScales scales{lines, issue.blockSize(), {}, {}};
    const unsigned byte = isRight ? issue.shape.rightScale : issue.shape.leftScale;
    for (unsigned block = 0; block < vector; ++block)
      for (unsigned line = first; line < first + lines; ++line) {
        const ScaleCell cell = scaleCell(issue, isRight, line, warp);
        addScale(scales, issue.shape.scaleType, uint8_t(cta.tensor.at(cell.lane, cell.column) >> 8 * (byte + block)));
      }
    return scales;
  };
  for (unsigned part = 0; part < placement.parts; ++part)
    for (unsigned row = 0; row < placement.rows; row += step) {
      const unsigned firstColumn = part * placement.partColumns, columns = placement.partColumns;
      const unsigned warp = placement.lane(row, firstColumn) / step;
      std::vector<uint32_t> some(step * columns);
      for (unsigned i = 0; i < step; ++i)
        std::copy_n(accumulators.begin() + (row + i) * issue.shape.n + firstColumn, columns,
                    some.begin() + i * columns);
      multiplyAdd(issue.shape.traits, slice(left, row, step), scalesOf(false, row, step, warp),
                  slice(right, firstColumn, columns), scalesOf(true, firstColumn, columns, warp), some.data());
      for (unsigned i = 0; i < step; ++i)
        std::copy_n(some.begin() + i * columns, columns,
                    accumulators.begin() + (row + i) * issue.shape.n + firstColumn);
    }
}

/// Executes .ws with A in tensor memory: multiplies each part of the columns by the copy of A in its lanes.
void MmaOperation::multiplyParts(Cta &cta, const FactorBits &right, std::vector<uint32_t> &accumulators) const {
  const Placement placement = issue.placement();
  const unsigned columns = placement.partColumns;
  for (unsigned part = 0; part < placement.parts; ++part) {
    std::vector<uint32_t> some(placement.rows * columns);
    const auto first = [&](unsigned row) { return accumulators.begin() + row * issue.shape.n + part * columns; };
    for (unsigned row = 0; row < placement.rows; ++row)
      std::copy_n(first(row), columns, some.begin() + row * columns);
    multiplyAdd(issue.shape.traits, readLeft(cta, part), slice(right, part * columns, columns), some.data());
    for (unsigned row = 0; row < placement.rows; ++row)
      std::copy_n(some.begin() + row * columns, columns, first(row));
  }
}

void MmaOperation::multiply(unsigned index, const FactorBits &right) const {
  Cta &cta = *issue.ctas[index];
  const Placement placement = issue.placement();
  const unsigned columns = issue.shape.n;
  const bool isHalf = issue.shape.traits.accumulator == matrix::Accumulator::F16;
  std::vector<uint32_t> accumulators(size_t(placement.rows) * columns);
  auto cell = [&](unsigned row, unsigned column) -> uint32_t & {
    return cta.tensor.at(issue.accumulator.lane + placement.lane(row, column),
                         issue.accumulator.column + placement.column(column));
  };
  if (issue.keepsAccumulator)
    for (unsigned row = 0; row < placement.rows; ++row)
      for (unsigned column = 0; column < columns; ++column)
        accumulators[row * columns + column] = isHalf ? cell(row, column) & 0xffff : cell(row, column);
  if (issue.form.isScaled())
    multiplyScaled(cta, readLeft(cta, 0), right, accumulators);
  else if (issue.form.isWeightStationary && issue.form.leftInTensor)
    multiplyParts(cta, right, accumulators);
  else
    multiplyAdd(issue.shape.traits, readLeft(cta, 0), right, accumulators.data());
  for (unsigned row = 0; row < placement.rows; ++row)
    for (unsigned column = 0; column < columns; ++column)
      if (!issue.isDisabled(index, issue.accumulator.lane + placement.lane(row, column)))
        cell(row, column) = accumulators[row * columns + column];
}

void MmaOperation::execute() {
  const FactorBits right = readRight();
  for (unsigned i = 0; i < issue.ctas.size(); ++i)
    multiply(i, right);
}

} // namespace tile::sim::tensor
