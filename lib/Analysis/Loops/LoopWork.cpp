// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counts how long operations keep tensor cores, lanes, shared memory and copies busy.
#include "Analysis/Loops/LoopWork.h"

#include "Cta/CtaDialect.h"
#include "Target/Engines/Wgmma.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace mlir;
using namespace tile;

LoopWork &LoopWork::operator+=(const LoopWork &other) {
  tensorCores += other.tensorCores;
  special += other.special;
  arithmetic += other.arithmetic;
  shared += other.shared;
  copies += other.copies;
  return *this;
}

std::string LoopWork::print() const {
  std::pair<StringRef, double> named[] = {{"tensor cores", tensorCores},
                                          {"special functions", special},
                                          {"arithmetic", arithmetic},
                                          {"shared memory", shared},
                                          {"copies", copies}};
  SmallVector<std::string> parts;
  for (auto [name, clocks] : named)
    if (int64_t rounded = std::llround(clocks))
      parts.push_back((name + " " + std::to_string(rounded)).str());
  return parts.empty() ? "none" : llvm::join(parts, ", ");
}

/// Returns the number of elements that threads compute, including replicas.
static double countElements(Type type) {
  cta::LayoutAttr layout = cta::getLayoutAttr(type);
  if (!layout)
    return 0;
  const layout::LinearLayout &held = layout.getLayout();
  return double(held.numRegisters()) * held.numWarps() * target::threadsPerWarp;
}

static double countElements(TypeRange types) {
  double elements = 0;
  for (Type type : types)
    elements += countElements(type);
  return elements;
}

/// Returns true for operations on the special function unit, which implements PTX's fast instructions (ex2, lg2, rcp,
/// rsqrt, sin, cos, tanh).
static bool isSpecial(Operation *op) {
  return isa<arith::DivFOp, math::ExpOp, math::Exp2Op, math::LogOp, math::Log2Op, math::SqrtOp, math::RsqrtOp,
             math::SinOp, math::CosOp, math::TanhOp>(op);
}

/// Counts the work of a wgmma. Each warp group reads its rows of `a` and, once for every 64 rows, its columns of `b`.
static LoopWork countWgmma(cta::WgmmaOp mma, const target::Rates &rates) {
  cta::BufferType b = mma.getB().getType();
  int64_t m = mma.getAcc().getType().getShape()[0], k = b.getShape()[0], n = b.getShape()[1];
  unsigned bits = b.getElementType().isF32() ? 32 : b.getElementType().getIntOrFloatBitWidth();
  LoopWork work;
  work.tensorCores = double(m) * n * k / rates.multiplyAdds(bits);
  double read = double(m) / target::wgmmaRows * n * k;
  if (mma.getBufferA())
    read += double(m) * k * mma.getGroupsN();
  work.shared = read * bits / 8 / rates.shared;
  return work;
}

static LoopWork countOperation(Operation *op, const target::Rates &rates) {
  LoopWork work;
  if (auto mma = dyn_cast<cta::WgmmaOp>(op))
    return countWgmma(mma, rates);
  if (auto wait = dyn_cast<cta::RingWaitOp>(op)) {
    cta::RingType ring = wait.getRing().getType();
    work.copies = double(ring.getBytes()) / ring.getSlots() / rates.ingest;
  } else if (auto load = dyn_cast<cta::LocalLoadOp>(op)) {
    work.shared = countElements(load.getType()) * getBytesInMemory(load.getType().getElementType()) / rates.shared;
  } else if (auto store = dyn_cast<cta::LocalStoreOp>(op)) {
    RankedTensorType type = store.getValue().getType();
    work.shared = countElements(type) * getBytesInMemory(type.getElementType()) / rates.shared;
  } else if (isa<ReduceOp>(op)) {
    work.arithmetic = countElements(op->getOperandTypes()) / rates.lanes;
  } else if (isSpecial(op)) {
    work.special = countElements(op->getResultTypes()) / rates.special;
  } else if (isElementwise(op) && !op->hasTrait<OpTrait::ConstantLike>()) {
    work.arithmetic = countElements(op->getResultTypes()) / rates.lanes;
  }
  return work;
}

LoopWork tile::countWork(Operation *op, const target::Rates &rates) {
  LoopWork work = countOperation(op, rates);
  if (isa<ReduceOp>(op)) // the region is applied to each element
    return work;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      work += countWork(block, rates);
  return work;
}

LoopWork tile::countWork(Block &body, const target::Rates &rates) {
  LoopWork work;
  for (Operation &op : body)
    work += countWork(&op, rates);
  return work;
}
