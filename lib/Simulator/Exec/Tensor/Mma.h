// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tcgen05.mma: D = A * B + D, with D in tensor memory. PTX ISA 9.7.16.10.
//
// The position of element (row, column) of D, for the rows of one CTA (PTX ISA 9.7.16.10.5, layouts A to G):
//
//   M                              lane                               column
//   128 of one CTA, 256 of two     row                                column
//   64 of one CTA                  row % 16 + 32 * (row / 16)         column     lane + 16 if the address has lane 16
//   128 of two, 64 with .ws        row + 64 * (column / (N/2))        column % (N/2)
//   32 with .ws                    row + 32 * (column / (N/4))        column % (N/4)
//
// An f16 of D takes a column. A in tensor memory has its rows in the same lanes, 32 bytes of K in eight columns; if the
// columns of D are split, each part of the lanes has a copy of A.
#pragma once

#include "Simulator/Exec/Tensor/InstructionDescriptor.h"
#include "Simulator/Exec/Tensor/SharedMatrix.h"

namespace tile::sim::tensor {

constexpr unsigned maxCtas = 2; ///< of a pair of CTAs
constexpr unsigned columnsOfLeft = 8;

struct Placement {
  unsigned rows = 0, parts = 1; ///< rows of one CTA; parts into which the columns are split
  unsigned partColumns = 0;
  bool isSpread = false; ///< 16 lanes of each warp

  Placement(const MmaForm &form, const MmaShape &shape)
      : rows(shape.m / form.ctaGroup), parts(form.isWeightStationary || form.ctaGroup == 2 ? tensorLanes / rows : 1),
        partColumns(shape.n / parts), isSpread(rows == 64 && parts == 1) {}

  unsigned lane(unsigned row, unsigned column) const {
    return isSpread ? row % 16 + row / 16 * tensorLanesOfWarp : row + column / partColumns * rows;
  }
  unsigned column(unsigned column) const { return column % partColumns; }
  /// Calls `function(lane, lanes)` for runs of lanes with elements.
  template <typename Function> void forLanes(Function &&function) const {
    if (!isSpread)
      return function(0u, tensorLanes);
    for (unsigned first = 0; first < tensorLanes; first += tensorLanesOfWarp)
      function(first, 16u);
  }
};

/// The scales of one operand in tensor memory: line l has its scales in column l / 32 and lane l % 32, with copies 32,
/// 64 and 96 lanes further on, one for each warp's part of the data path; for B with split columns only 32 lanes
/// further on.
struct ScaleAddress {
  TensorAddress left, right;
};

/// An MMA with its operands.
struct MmaIssue {
  MmaForm form;
  MmaShape shape;
  TensorAddress accumulator;
  TensorAddress leftInTensor;
  matrix::Descriptor left{0}, right{0};
  ScaleAddress scales;
  bool keepsAccumulator = false;
  uint32_t disabledLanes[maxCtas][tensorLanes / 32] = {};
  std::vector<Cta *> ctas; ///< CTAs of the group, by rank

  Placement placement() const { return {form, shape}; }
  /// The lines of B in one CTA.
  unsigned rightLines() const { return shape.n / form.ctaGroup; }
  SharedMatrix leftMatrix() const { return {left, shape.leftLineMajor, placement().rows, shape.k, shape.perChunk}; }
  SharedMatrix rightMatrix() const { return {right, shape.rightLineMajor, rightLines(), shape.k, shape.perChunk}; }
  bool isDisabled(unsigned cta, unsigned lane) const { return disabledLanes[cta][lane / 32] >> lane % 32 & 1; }
  bool disablesAny() const;
  unsigned blockSize() const { return shape.k / form.scaleVector; }
};

/// Returns the position of the scales of a line, for the part of the data path with the lanes 32 * warp …; `isRight`:
/// of B.
struct ScaleCell {
  unsigned lane = 0, column = 0;
};
ScaleCell scaleCell(const MmaIssue &issue, bool isRight, unsigned line, unsigned warp);

class MmaOperation final : public PipeOperation {
public:
  MmaOperation(Warp &warp, unsigned lane, const Instruction &instruction, MmaIssue issue)
      : PipeOperation(warp, lane, instruction), issue(std::move(issue)) {}

private:
  void execute() override;
  /// Returns the rows of A of one CTA. In tensor memory, they are read from the lanes that compute part `part` of the
  /// columns.
  matrix::FactorBits readLeft(Cta &cta, unsigned part) const;
  void multiplyParts(Cta &cta, const matrix::FactorBits &right, std::vector<uint32_t> &accumulators) const;
  matrix::FactorBits readRight() const;
  void multiply(unsigned index, const matrix::FactorBits &right) const;
  void multiplyScaled(Cta &cta, const matrix::FactorBits &left, const matrix::FactorBits &right,
                      std::vector<uint32_t> &accumulators) const;

  MmaIssue issue;
};

} // namespace tile::sim::tensor
