// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cta-allocate-shared: assign shared memory offsets to buffers.
//
//   %b = cta.alloc : !b   ==>   %b = cta.alloc at 1024 : !b
//
// SharedPlacement.h computes the offsets. If the buffers do not fit, buffers are made smaller where tensors can pass
// through them in panels (PanelExchanges.h).
#include "Cta/CtaDialect.h"
#include "Target/GpuTarget.h"
#include "Transforms/Cta/PanelExchanges.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/FormatVariadic.h"

namespace tile {
#define GEN_PASS_DEF_CTAALLOCATESHARED
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

std::string describe(Location location) {
  if (auto file = location->findInstanceOf<FileLineColLoc>())
    return llvm::formatv("{0}:{1}:{2}", file.getFilename().getValue(), file.getLine(), file.getColumn());
  return "unknown location";
}

/// Prints one line per buffer, the largest first.
std::string printTable(ArrayRef<Placement> placements) {
  SmallVector<Placement> rows(placements);
  llvm::stable_sort(rows, [](const Placement &a, const Placement &b) { return a.bytes > b.bytes; });
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::formatv("\n  {0,10}  {1,10}  {2,-24}  {3}", "bytes", "offset", "buffer", "location");
  for (const Placement &row : rows) {
    cta::AllocOp alloc = row.life.alloc;
    cta::BufferType type = alloc.getType();
    std::string shape;
    llvm::raw_string_ostream(shape) << RankedTensorType::get(type.getShape(), type.getElementType());
    if (type.getSlots() != 1)
      shape += llvm::formatv(" x {0}", type.getSlots());
    os << llvm::formatv("\n  {0,10}  {1,10}  {2,-24}  {3}", row.bytes, row.offset, shape, describe(alloc.getLoc()));
  }
  return text;
}

void emitTooLarge(KernelOp kernel, const SharedPlacement &placement, const target::GpuTarget &gpu) {
  InFlightDiagnostic error = kernel.emitError();
  error << "kernel '" << kernel.getSymName() << "' needs " << placement.bytes
        << " bytes of shared memory but a CTA has " << gpu.maxSharedPerCta << " on " << gpu.name
        << "; use smaller blocks";
  // Only prefetched buffers have stages.
  if (llvm::any_of(placement.buffers, [](const Placement &buffer) { return buffer.life.getType().getSlots() > 1; }))
    error << " or fewer stages than num_stages = " << kernel.getNumStages();
  error << printTable(placement.buffers);
}

struct CtaAllocateShared : tile::impl::CtaAllocateSharedBase<CtaAllocateShared> {
  void runOnKernel() override {
    KernelOp kernel = getOperation();
    const target::GpuTarget &gpu = cta::getTarget(kernel);
    SharedPlacement placement = placeBuffers(kernel, gpu.maxSharedPerCta);
    if (placement.bytes > gpu.maxSharedPerCta) {
      PanelExchanges exchanges(kernel);
      while (placement.bytes > gpu.maxSharedPerCta && exchanges.narrow(placement))
        placement = placeBuffers(kernel, gpu.maxSharedPerCta);
    }
    if (placement.bytes > gpu.maxSharedPerCta) {
      emitTooLarge(kernel, placement, gpu);
      return signalPassFailure();
    }
    Builder builder(kernel.getContext());
    for (Placement &buffer : placement.buffers)
      buffer.life.alloc.setOffsetAttr(builder.getI32IntegerAttr(buffer.offset));
    for (auto [ring, offset] : placement.rings)
      ring.setOffsetAttr(builder.getI32IntegerAttr(offset));
    kernel.setSharedBytes(placement.bytes);
  }
};

} // namespace
