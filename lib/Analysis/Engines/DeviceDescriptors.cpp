// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Implements DeviceDescriptors.h: the limits of tensor maps, and when they pay off.
#include "Analysis/Engines/DeviceDescriptors.h"

#include "Analysis/Engines/EngineChoice.h"
#include "Analysis/Engines/OddBlocks.h"
#include "Cta/CtaDialect.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tile;

/// Returns the offsets of an access through a descriptor.
static ValueRange offsetsOf(Operation *access) {
  if (auto store = dyn_cast<DescStoreOp>(access))
    return store.getOffsets();
  return cast<DescLoadOp>(access).getOffsets();
}

std::string tile::whyNoTensorMap(MakeDescOp desc, AxisInfoAnalysis &facts) {
  DescType type = desc.getType();
  // cta-lower-descriptors provides buffers only for vectors and matrices.
  if (size_t rank = dropLeadingOnes(type.getShape()).size(); rank > 2)
    return llvm::formatv("its blocks have rank {0}; TMA is used only for vectors and matrices", rank);
  if (type.getElementType().isInteger(1))
    return "tensor maps do not support elements of type i1";
  if (!matchPattern(desc.getStrides().back(), m_One()))
    return "its last stride is not the constant 1";
  if (!llvm::all_of(desc->getUsers(), llvm::IsaPred<DescLoadOp, DescStoreOp>))
    return "it is used by operations other than loads and stores";
  if (type.getPadsNan())
    return "its padding is NaN; only zeros are supported";
  int64_t whole = 16 / getBytesInMemory(type.getElementType());
  for (Operation *user : desc->getUsers()) {
    // With other coordinates, TMA raises an illegal-instruction error, whatever the swizzle and element size (measured
    // on an H200).
    if (facts.get(offsetsOf(user).back()).getDivisibilityOfAll() < whole)
      return llvm::formatv("the last coordinate of a block is not known to be a multiple of {0} elements, as TMA "
                           "requires; use tl.multiple_of if it is",
                           whole);
    auto store = dyn_cast<DescStoreOp>(user);
    if (!store)
      continue;
    if (std::optional<AtomicKind> kind = store.getReduce(); kind && !cta::canReduceByTma(*kind, type.getElementType()))
      return llvm::formatv("TMA cannot reduce {0} by '{1}'", type.getElementType(), stringifyAtomicKind(*kind));
    // TMA writes either all or nothing of each 16-byte unit; see BlockPointers.cpp.
    if (facts.get(desc.getShape().back()).getDivisibilityOfAll() < whole)
      return llvm::formatv("it is stored to, and its last dimension is not known to be a multiple of {0} elements",
                           whole);
  }
  if (!needsNoPadding(desc))
    return "its blocks have a size that is not a power of two and are used by more than dots and stores";
  return "";
}

/// Returns why the kernel encodes no map for the descriptor; empty if it encodes one.
static std::string whyNot(MakeDescOp desc, AxisInfoAnalysis &facts) {
  // The producer warp loads and consumer warps store, and each of them encodes only the maps that it uses itself.
  if (llvm::any_of(desc->getUsers(), llvm::IsaPred<DescLoadOp>) &&
      llvm::any_of(desc->getUsers(), llvm::IsaPred<DescStoreOp>))
    return "it is used by both loads and stores";
  return whyNoTensorMap(desc, facts);
}

/// Returns true if wgmma multiplies data that is loaded through descriptors of the kernel. Otherwise TMA does not pay
/// off.
static bool multipliesBlocks(KernelOp kernel, AxisInfoAnalysis &facts) {
  auto isRead = [&](const SharedOperand &operand) {
    auto load = dyn_cast_if_present<DescLoadOp>(operand.source);
    if (!load)
      return false;
    auto desc = load.getDesc().getDefiningOp<MakeDescOp>();
    return desc ? whyNot(desc, facts).empty() : isa<BlockArgument>(load.getDesc());
  };
  WalkResult result = kernel.walk([&](DotOp dot) {
    cta::BufferEngine engine = getEngineOfBlocks(dot);
    bool multiplies = engine && isRead(traceOperand(dot.getA())) && isRead(traceOperand(dot.getB()));
    return multiplies ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

SmallVector<MakeDescOp> tile::planDeviceDescriptors(KernelOp kernel,
                                                    llvm::function_ref<void(MakeDescOp, std::string)> refuse) {
  SmallVector<MakeDescOp> plan;
  // Every target with wgmma or tcgen05 has tensormap.replace. Kernels that use neither wgmma nor tcgen05 do not profit
  // from TMA.
  bool hasWgmma =
      kernel.walk([](DotOp dot) { return getBufferEngine(dot) ? WalkResult::interrupt() : WalkResult::advance(); })
          .wasInterrupted();
  if (!hasWgmma)
    return plan;
  AxisInfoAnalysis facts(kernel);
  if (!multipliesBlocks(kernel, facts))
    return plan;
  kernel.walk([&](MakeDescOp desc) {
    std::string reason = whyNot(desc, facts);
    if (reason.empty())
      plan.push_back(desc);
    else if (refuse)
      refuse(desc, reason);
  });
  for (MakeDescOp desc : findUnpaired(plan)) {
    llvm::erase(plan, desc);
    if (refuse)
      refuse(desc, "the descriptor of the dot's other operand has none");
  }
  return plan;
}
