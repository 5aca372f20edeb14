// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Computes dots by scalar multiply-adds; the operands are tiles in shared memory.
//
// A thread needs the rows of A and the columns of B of its accumulator elements. It loads them for a few values of k at
// a time (as a vector if k is contiguous in the buffer) and multiplies each loaded element of a row with each loaded
// element of a column. The accumulator registers of a thread are the outer product of its rows and columns, so each
// loaded element is used many times.
//
//   for each part of k:  load a[rows, part], b[part, columns]
//     for k in part, r in registers:  acc[r] += a[row(r), k] * b[k, column(r)]
//
// The loops are unrolled completely, unless the dot is so large that a loop over groups of parts is emitted.
#include "EmitLayout.h"
#include "Float8.h"
#include "Patterns.h"
#include "SharedAccess.h"
#include "Words.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <bit>

using namespace mlir;
using tile::layout::LinearLayout;

namespace tile::conversion {

namespace {

/// The rows (axis 0) or columns (axis 1) of the accumulator that a thread holds.
struct ThreadLines {
  std::vector<uint64_t> registers, lanes, warps; // coordinate of each bit; for registers, only the independent bits
  std::vector<int32_t> lineOf;                   // accumulator register -> index of its line
};

std::vector<uint64_t> coordinates(const layout::Bases &bases, unsigned axis) {
  std::vector<uint64_t> result;
  for (const std::vector<int32_t> &basis : bases)
    result.push_back(uint64_t(basis[axis]));
  return result;
}

ThreadLines linesOf(const LinearLayout &acc, unsigned axis) {
  ThreadLines lines;
  std::vector<uint64_t> all = coordinates(acc.bases(layout::registerDim), axis);
  lines.registers = layout::independentSubset(all);
  lines.lanes = coordinates(acc.bases(layout::laneDim), axis);
  lines.warps = coordinates(acc.bases(layout::warpDim), axis);
  layout::Span span(lines.registers);
  for (int64_t index = 0; index < acc.numRegisters(); ++index) {
    uint64_t coordinate = 0;
    for (size_t bit = 0; bit < all.size(); ++bit)
      if (index >> bit & 1)
        coordinate ^= all[bit];
    lines.lineOf.push_back(int32_t(*span.express(coordinate)));
  }
  return lines;
}

/// Returns the layout in which a thread reads one part (`part` values of k) of an operand: register = k + part * line.
LinearLayout partLayout(const ThreadLines &lines, int64_t part, uint64_t kStride, uint64_t lineStride,
                        std::vector<int64_t> shape) {
  std::vector<uint64_t> registers;
  for (int64_t k = 1; k < part; k *= 2)
    registers.push_back(uint64_t(k) * kStride);
  auto append = [&](std::vector<uint64_t> &to, const std::vector<uint64_t> &from) {
    for (uint64_t line : from)
      to.push_back(line * lineStride);
  };
  std::vector<uint64_t> lanes, warps;
  append(registers, lines.registers);
  append(lanes, lines.lanes);
  append(warps, lines.warps);
  return LinearLayout::distributed(registers, lanes, warps, std::move(shape));
}

/// Returns shifts of the row-major index: XORs of some of them lead from the first part to every other part.
std::vector<uint64_t> partShifts(int64_t part, int64_t end, uint64_t kStride) {
  std::vector<uint64_t> shifts;
  for (int64_t k = part; k < end; k *= 2)
    shifts.push_back(uint64_t(k) * kStride);
  return shifts;
}

SmallVector<Value> emitExtended(OpBuilder &builder, Location loc, ValueRange values, Type element, Type acc,
                                const target::GpuTarget &gpu) {
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8)
    return emitFromFloat8(builder, loc, values, element, acc, gpu);
  SmallVector<Value> results(values);
  for (Value &value : results) {
    if (element == acc)
      continue;
    value = isa<FloatType>(acc) ? arith::ExtFOp::create(builder, loc, acc, value).getResult()
                                : arith::ExtSIOp::create(builder, loc, acc, value).getResult();
  }
  return results;
}

Value emitMultiplyAdd(OpBuilder &builder, Location loc, Value a, Value b, Value acc) {
  if (isa<FloatType>(acc.getType()))
    return math::FmaOp::create(builder, loc, a, b, acc);
  return arith::AddIOp::create(builder, loc, acc, arith::MulIOp::create(builder, loc, a, b));
}

/// Emits one FMA dot.
class FmaDotEmitter {
public:
  FmaDotEmitter(OpBuilder &builder, cta::FmaDotOp op, Value a, Value b, const target::GpuTarget &gpu)
      : builder(builder), loc(op.getLoc()), aType(op.getA().getType()), bType(op.getB().getType()),
        accLayout(cta::getLayout(op.getAcc().getType())), element(op.getAcc().getType().getElementType()), aBase(a),
        bBase(b), gpu(gpu), k(aType.getShape()[1]), n(bType.getShape()[1]),
        // At most four values of k at a time, to limit the number of registers that wait for loads, and at most 16
        // bytes, the widest load.
        part(std::min<int64_t>(k, std::min(4u, 16 / getBytesInMemory(aType.getElementType())))),
        rows(linesOf(accLayout, 0)), columns(linesOf(accLayout, 1)), canonical(canonicalRegisters(accLayout)) {}

  Registers emit(ValueRange acc) {
    Registers accumulators(acc);
    if (int64_t step = chooseStep(); step < k)
      emitLoop(accumulators, step);
    else
      emitParts(accumulators, k, {});
    for (size_t index = 0; index < accumulators.size(); ++index)
      accumulators[index] = accumulators[canonical[index]];
    return accumulators;
  }

private:
  bool isOwn(size_t index) const { return canonical[index] == int32_t(index); }

  /// Returns how many values of k each iteration of the loop handles; `k` if there is no loop.
  int64_t chooseStep() const {
    // For one thread, ptxas takes 0.6 s for 4096 multiply-adds, but 7 s for 16384 if registers are short.
    constexpr int64_t maxWithoutLoop = 8192, maxInLoop = 2048;
    int64_t each = 0; // multiply-adds per value of k
    for (size_t index = 0; index < canonical.size(); ++index)
      each += isOwn(index);
    if (each * k <= maxWithoutLoop)
      return k;
    int64_t step = part;
    while (step * 2 * each <= maxInLoop)
      step *= 2;
    return step;
  }

  void emitLoop(Registers &accumulators, int64_t step) {
    SmallVector<Value> initial;
    for (size_t index = 0; index < accumulators.size(); ++index)
      if (isOwn(index))
        initial.push_back(accumulators[index]);
    auto loop = scf::ForOp::create(builder, loc, emitI32(builder, loc, 0), emitI32(builder, loc, k),
                                   emitI32(builder, loc, step), initial);
    auto assign = [&](ValueRange values) {
      for (size_t index = 0, next = 0; index < accumulators.size(); ++index)
        if (isOwn(index))
          accumulators[index] = values[next++];
    };
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(loop.getBody());
      assign(loop.getRegionIterArgs());
      emitParts(accumulators, step, loop.getInductionVar());
      SmallVector<Value> results;
      for (size_t index = 0; index < accumulators.size(); ++index)
        if (isOwn(index))
          results.push_back(accumulators[index]);
      scf::YieldOp::create(builder, loc, results);
    }
    assign(loop.getResults());
  }

  /// Accumulates `count` values of k, starting at `first`, a multiple of `count`, or at 0 if `first` is null.
  void emitParts(Registers &accumulators, int64_t count, Value first) {
    LinearLayout aPart = partLayout(rows, part, 1, k, aType.getShape().vec());
    LinearLayout bPart = partLayout(columns, part, n, 1, bType.getShape().vec());
    SharedPartLoader aLoader(builder, loc, {aBase, aType.getElementType(), aType.getLayout().getLayout(), aPart},
                             partShifts(part, k, 1));
    SharedPartLoader bLoader(builder, loc, {bBase, bType.getElementType(), bType.getLayout().getLayout(), bPart},
                             partShifts(part, k, n));
    if (first) {
      std::vector<uint64_t> aShifts, bShifts; // for the bits of `first`
      for (int64_t bit = 1; bit < k; bit *= 2) {
        aShifts.push_back(bit < count ? 0 : uint64_t(bit));
        bShifts.push_back(bit < count ? 0 : uint64_t(bit * n));
      }
      aLoader.moveBy(first, aShifts);
      bLoader.moveBy(first, bShifts);
    }
    for (int64_t start = 0; start < count; start += part) {
      SmallVector<Value> a = emitExtended(builder, loc, aLoader.load(start), aType.getElementType(), element, gpu);
      SmallVector<Value> b = emitExtended(builder, loc, bLoader.load(start * n), bType.getElementType(), element, gpu);
      for (int64_t step = 0; step < part; ++step)
        for (size_t index = 0; index < accumulators.size(); ++index)
          if (isOwn(index))
            accumulators[index] = emitMultiplyAdd(builder, loc, a[step + part * rows.lineOf[index]],
                                                  b[step + part * columns.lineOf[index]], accumulators[index]);
    }
  }

  OpBuilder &builder;
  Location loc;
  cta::BufferType aType, bType;
  const LinearLayout &accLayout;
  Type element;
  Value aBase, bBase;
  const target::GpuTarget &gpu;
  const int64_t k, n, part;
  const ThreadLines rows, columns;
  const std::vector<int32_t> canonical;
};

struct FmaDotLowering : TargetPattern<cta::FmaDotOp> {
  using TargetPattern::TargetPattern;

  LogicalResult matchAndRewrite(cta::FmaDotOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    FmaDotEmitter emitter(rewriter, op, adaptor.getA().front(), adaptor.getB().front(), gpu);
    rewriter.replaceOpWithMultiple(op, {emitter.emit(adaptor.getAcc())});
    return success();
  }
};

} // namespace

static LogicalResult checkFmaDot(cta::FmaDotOp op, const target::GpuTarget &) {
  if (failed(checkWholeTile(op, op.getA().getType())) || failed(checkWholeTile(op, op.getB().getType())))
    return failure();
  for (Value operand : {op.getA(), op.getB()}) {
    Type element = cast<cta::BufferType>(operand.getType()).getElementType(),
         acc = op.getAcc().getType().getElementType();
    if (isa<FloatType>(element) != isa<FloatType>(acc) ||
        element.getIntOrFloatBitWidth() > acc.getIntOrFloatBitWidth() || (element.isBF16() && acc.isF16()) ||
        (element.isF16() && acc.isBF16()))
      return op.emitOpError() << "cannot accumulate products of " << element << " in " << acc;
  }
  return success();
}

void registerFmaDotLowerings(Lowerings &lowerings) {
  lowerings.patterns.add<FmaDotLowering>(lowerings.converter, lowerings.context, lowerings.gpu);
  lowerings.check<cta::FmaDotOp>(checkFmaDot);
}

} // namespace tile::conversion
