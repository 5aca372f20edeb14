// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tcgen05.mma: computes D = A * B + D, where D is in tensor memory. PTX ISA 9.7.16.10.
//
// The position of element (row, column) of D, for the rows of one CTA (PTX ISA 9.7.16.10.5, layouts A to G), is:
//
//   M                              lane                               column
//   128 of one CTA, 256 of two     row                                column
//   64 of one CTA                  row % 16 + 32 * (row / 16), + 16   column     (+ 16 only if the address has lane 16)
//   128 of two, 64 with .ws        row + 64 * (column / (N/2))        column % (N/2)
//   32 with .ws                    row + 32 * (column / (N/4))        column % (N/4)
//
// An f16 element of D occupies a whole column. If A is in tensor memory, its rows are in the same lanes as those of D,
// and 32 bytes of K occupy eight columns. If the columns of D are split over several groups of lanes, each group
// contains a copy of A.
#pragma once

#include "Simulator/Exec/Tensor/InstructionDescriptor.h"
#include "Simulator/Exec/Tensor/SharedMatrix.h"

namespace tile::sim::tensor {

constexpr unsigned maxCtas = 2; ///< a pair of CTAs
constexpr unsigned columnsOfLeft = 8;

struct Placement {
  unsigned rows = 0, parts = 1; ///< rows of one CTA; number of parts into which the columns are split
  unsigned partColumns = 0;
  bool isSpread = false; ///< only 16 lanes of each warp are used

  Placement(const MmaForm &form, const MmaShape &shape)
      : rows(shape.m / form.ctaGroup), parts(form.isWeightStationary || form.ctaGroup == 2 ? tensorLanes / rows : 1),
        partColumns(shape.n / parts), isSpread(rows == 64 && parts == 1) {}

  unsigned lane(unsigned row, unsigned column) const {
    return isSpread ? row % 16 + row / 16 * tensorLanesOfWarp : row + column / partColumns * rows;
  }
  unsigned column(unsigned column) const { return column % partColumns; }
  /// Calls `function(lane, lanes)` for each run of lanes that contain elements.
  template <typename Function> void forLanes(Function &&function) const {
    if (!isSpread)
      return function(0u, tensorLanes);
    for (unsigned first = 0; first < tensorLanes; first += tensorLanesOfWarp)
      function(first, 16u);
  }
};

/// The addresses of the operands' scales in tensor memory. The scales of line l are in column l / 32 and lane l % 32.
/// There are copies 32, 64 and 96 lanes further on, one for each warp's part of the data path; for B with split
/// columns, there is only one copy, 32 lanes further on.
struct ScaleAddress {
  TensorAddress left, right;
};

/// An issued MMA with its operands.
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
  /// Returns the number of lines of B in one CTA.
  unsigned rightLines() const { return shape.n / form.ctaGroup; }
  SharedMatrix leftMatrix() const { return {left, shape.leftLineMajor, placement().rows, shape.k, shape.perChunk}; }
  SharedMatrix rightMatrix() const { return {right, shape.rightLineMajor, rightLines(), shape.k, shape.perChunk}; }
  bool isDisabled(unsigned cta, unsigned lane) const { return disabledLanes[cta][lane / 32] >> lane % 32 & 1; }
  bool disablesAny() const;
  unsigned blockSize() const { return shape.k / form.scaleVector; }
};

/// The position of the scales of a line of A or (if `isRight`) B, for the part of the data path with the lanes from
/// warp * 32 on.
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
  /// Returns the rows of A of one CTA. If A is in tensor memory, the rows are read from the lanes that compute part
  /// `part` of the columns.
  matrix::FactorBits readLeft(Cta &cta, unsigned part) const;
  void multiplyParts(Cta &cta, const matrix::FactorBits &right, std::vector<uint32_t> &accumulators) const;
  matrix::FactorBits readRight() const;
  void multiply(unsigned index, const matrix::FactorBits &right) const;
  void multiplyScaled(Cta &cta, const matrix::FactorBits &left, const matrix::FactorBits &right,
                      std::vector<uint32_t> &accumulators) const;

  MmaIssue issue;
};

} // namespace tile::sim::tensor
