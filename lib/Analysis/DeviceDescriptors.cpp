// What a tensor map can say, and whether it pays.
#include "Analysis/DeviceDescriptors.h"

#include "Analysis/SwappedDot.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tile;

/// Why there is no map for the descriptor; empty if there is.
static std::string whyNot(MakeDescOp desc) {
  DescType type = desc.getType();
  // What cta-lower-descriptors has buffers for.
  if (size_t rank = dropLeadingOnes(type.getShape()).size(); rank > 2)
    return llvm::formatv("its blocks have rank {0}; vectors and matrices are copied by TMA", rank);
  if (type.getElementType().isInteger(1))
    return "a tensor map has no elements of type i1";
  if (!matchPattern(desc.getStrides().back(), m_One()))
    return "its last stride is not the constant 1";
  // TMA writes whole 16 bytes, and a size that is read from memory is not known to be a multiple of that.
  if (llvm::any_of(desc->getUsers(), llvm::IsaPred<DescStoreOp>))
    return "it is written through";
  if (!llvm::all_of(desc->getUsers(), llvm::IsaPred<DescLoadOp>))
    return "it is passed on";
  return "";
}

/// Whether warp groups multiply what is read through descriptors of the kernel: otherwise TMA does not pay.
static bool multipliesBlocks(KernelOp kernel, const target::GpuTarget &target) {
  auto isRead = [](const SharedOperand &operand) {
    auto load = dyn_cast_if_present<DescLoadOp>(operand.source);
    if (!load)
      return false;
    auto desc = load.getDesc().getDefiningOp<MakeDescOp>();
    return desc ? whyNot(desc).empty() : isa<BlockArgument>(load.getDesc());
  };
  WalkResult result = kernel.walk([&](DotOp dot) {
    SharedOperand a = traceOperand(dot.getA()), b = traceOperand(dot.getB());
    bool multiplies =
        isRead(a) && isRead(b) && isForWarpGroups(dot, a.transposed, b.transposed, target, kernel.getNumWarps());
    return multiplies ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

SmallVector<MakeDescOp> tile::planDeviceDescriptors(KernelOp kernel, const target::GpuTarget &target,
                                                    llvm::function_ref<void(MakeDescOp, std::string)> refuse) {
  SmallVector<MakeDescOp> plan;
  // Every target with wgmma has tensormap.replace, and nothing else pays.
  if (!target.has(target::Feature::Wgmma) || !multipliesBlocks(kernel, target))
    return plan;
  kernel.walk([&](MakeDescOp desc) {
    std::string reason = whyNot(desc);
    if (reason.empty())
      plan.push_back(desc);
    else if (refuse)
      refuse(desc, reason);
  });
  return plan;
}
