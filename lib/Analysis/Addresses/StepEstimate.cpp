// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Estimates by a walk over index arithmetic; see StepEstimate.h.
#include "Analysis/Addresses/StepEstimate.h"

#include "Analysis/Addresses/AxisInfo.h"
#include "Tile/TileDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile;

namespace {

constexpr double unknownStep = 1e12;
constexpr unsigned maxDepth = 32; // the maximum depth to which expressions are followed

/// Estimates a factor or a divisor, which is the same for all elements.
double estimateFactor(Value value, AxisInfoAnalysis &axisInfo) {
  constexpr double ofParameter = 256, ofMultiple = 4096;
  const AxisInfo &info = axisInfo.get(value);
  if (info.constant)
    return std::abs(double(*info.constant));
  return info.getDivisibilityOfAll() >= 16 ? ofMultiple : ofParameter;
}

class StepEstimate {
public:
  explicit StepEstimate(AxisInfoAnalysis &axisInfo) : axisInfo(axisInfo) {}

  /// Returns the estimate. It is computed only once per value and depth, because each step of a binary search uses the
  /// result of the previous step several times.
  double estimate(Value value, unsigned dim, unsigned depth = 0) {
    auto key = std::make_tuple(value, dim, depth);
    if (auto known = estimates.find(key); known != estimates.end())
      return known->second;
    double step = compute(value, dim, depth);
    return estimates[key] = step;
  }

private:
  double compute(Value value, unsigned dim, unsigned depth) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || type.getDimSize(dim) == 1)
      return 0;
    const AxisInfo &info = axisInfo.get(value);
    if (info.getConstancy(dim) >= type.getDimSize(dim))
      return 0;
    Operation *op = value.getDefiningOp();
    if (auto loop = dyn_cast_or_null<scf::ForOp>(value.getParentBlock()->getParentOp()); loop && !op)
      op = loop;
    if (!op || depth == maxDepth)
      return unknownStep;
    auto of = [&](Value operand) { return estimate(operand, dim, depth + 1); };
    auto factorOf = [&](Value operand) { return estimateFactor(operand, axisInfo); };
    return llvm::TypeSwitch<Operation *, double>(op)
        .Case([&](ArangeOp) { return 1; })
        .Case<arith::AddIOp, arith::SubIOp, AddPtrOp>(
            [&](Operation *sum) { return std::max(of(sum->getOperand(0)), of(sum->getOperand(1))); })
        .Case([&](arith::MulIOp product) {
          double lhs = of(product.getLhs()), rhs = of(product.getRhs());
          return lhs == 0 ? factorOf(product.getLhs()) * rhs
                          : (rhs == 0 ? lhs * factorOf(product.getRhs()) : unknownStep);
        })
        .Case<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp>([&](Operation *quotient) {
          double divisor = of(quotient->getOperand(1));
          return divisor == 0 ? of(quotient->getOperand(0)) / std::max(factorOf(quotient->getOperand(1)), 1.0)
                              : unknownStep;
        })
        // Except at the end of a period, the remainder grows like the dividend.
        .Case<arith::RemSIOp, arith::RemUIOp>([&](Operation *remainder) { return of(remainder->getOperand(0)); })
        .Case<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, HintOp>(
            [&](Operation *cast) { return of(cast->getOperand(0)); })
        .Case([&](ExpandDimsOp expand) {
          unsigned axis = expand.getAxis();
          return dim == axis ? 0 : estimate(expand.getSrc(), dim < axis ? dim : dim - 1, depth + 1);
        })
        .Case([&](BroadcastOp broadcast) { return of(broadcast.getSrc()); })
        .Case([&](arith::SelectOp select) { return std::max(of(select.getTrueValue()), of(select.getFalseValue())); })
        .Case([&](scf::ForOp loop) {
          auto argument = dyn_cast<BlockArgument>(value);
          return argument && argument.getArgNumber() > 0 ? of(loop.getInitArgs()[argument.getArgNumber() - 1])
                                                         : unknownStep;
        })
        .Default(unknownStep);
  }

  AxisInfoAnalysis &axisInfo;
  DenseMap<std::tuple<Value, unsigned, unsigned>, double> estimates;
};

} // namespace

double tile::estimateStep(Value value, unsigned dim, AxisInfoAnalysis &axisInfo) {
  return StepEstimate(axisInfo).estimate(value, dim);
}
