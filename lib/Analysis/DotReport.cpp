// The remark of cta-lower-dot.
#include "Analysis/DotReport.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tile;

/// How warp groups get the operand.
static StringRef describeSource(Value operand, bool isInRegisters) {
  if (isInRegisters)
    return "in registers";
  auto load = dyn_cast_or_null<cta::LocalLoadOp>(traceOperand(operand).source);
  Value buffer = load ? load.getBuffer() : Value();
  while (buffer && isa_and_present<cta::TransBufferOp>(buffer.getDefiningOp()))
    buffer = buffer.getDefiningOp()->getOperand(0);
  if (buffer && llvm::any_of(buffer.getUsers(), llvm::IsaPred<cta::TmaLoadSyncOp>))
    return "copied by TMA";
  if (buffer && llvm::any_of(buffer.getUsers(), llvm::IsaPred<cta::AsyncCopyOp>))
    return "copied by cp.async";
  return "stored by threads";
}

/// What warp groups lack to multiply the dot.
static std::string whyNoWarpGroups(DotOp dot, const target::GpuTarget &target, unsigned numWarps) {
  std::string text;
  llvm::raw_string_ostream reason(text);
  RankedTensorType a = dot.getA().getType(), b = dot.getB().getType(), acc = dot.getAcc().getType();
  int64_t bitsK = a.getDimSize(1) * a.getElementTypeBitWidth();
  constexpr int64_t rows = 64, leastBitsK = 256, leastColumns = 8;
  unsigned groups = numWarps / 4;
  if (!target.has(target::Feature::Wgmma))
    reason << target.name << " has no wgmma, sm_90a has";
  else if (numWarps % 4 != 0)
    reason << "wgmma needs groups of 4 warps, the kernel has " << numWarps;
  else if (acc.getDimSize(0) < rows)
    reason << "wgmma multiplies " << rows << " rows, a has " << acc.getDimSize(0);
  else if (bitsK < leastBitsK)
    reason << "wgmma multiplies " << leastBitsK << " bits of k, a has " << bitsK;
  else if (acc.getDimSize(1) * std::min<int64_t>(groups, acc.getDimSize(0) / rows) < leastColumns * groups)
    reason << "wgmma computes " << leastColumns << " columns for each warp group, b has " << b.getDimSize(1) << " for "
           << groups;
  else if (!planWarpGroups(dot, /*aTransposed=*/false, /*bTransposed=*/true, target, numWarps))
    reason << "wgmma does not multiply " << a.getElementType() << " and " << b.getElementType() << " into "
           << acc.getElementType();
  else
    reason << "operands of wgmma would take more than three quarters of the shared memory";
  return text;
}

std::string tile::reportEngine(DotOp dot, const DotPlan &plan, const target::GpuTarget &target, unsigned numWarps) {
  std::string text;
  llvm::raw_string_ostream report(text);
  if (plan.wgmma) {
    report << "wgmma m64n" << plan.wgmma->instructionN << "k" << 256 / plan.wgmma->elementBits << "; a is "
           << describeSource(dot.getA(), plan.a.has_value()) << ", b "
           << describeSource(dot.getB(), /*isInRegisters=*/false);
    return text;
  }
  if (const target::MmaInstruction *instruction = plan.instruction)
    report << "mma.sync m" << instruction->m << "n" << instruction->n << "k" << instruction->k;
  else
    report << "fused multiply-adds";
  report << "; " << whyNoWarpGroups(dot, target, numWarps);
  return text;
}
