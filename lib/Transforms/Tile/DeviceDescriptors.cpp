// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile-device-descriptors: let the kernel encode tensor maps that the launcher cannot.
//
// If a descriptor's base or shape is loaded from memory, as in grouped GEMM, every CTA encodes its own tensor map, in
// scratch memory from the launcher. Encoding takes a microsecond, so it is placed as late as possible, outside of the
// loop that uses it, and is skipped if that loop never runs:
//
//   for %group {                                           for %group {
//     %d = tile.make_desc %base, [%m, %k], …        ==>      %any = %first < %tiles
//     for %tile = %first to %tiles { … %d[%i, %j] }          %d = tile.make_desc %base, [%m, %k], … at %place if %any
//   }                                                        for %tile = %first to %tiles { … %d[%i, %j] } }
//
// cta-lower-descriptors emits the encoding, because box and swizzle are known there.
// Analysis/Engines/DeviceDescriptors.h says which descriptors qualify.
#include "Analysis/Engines/DeviceDescriptors.h"
#include "Analysis/Loops/LoopRange.h"
#include "Transforms/Passes.h"
#include "Transforms/Tile/EmptyDescriptors.h"

#include "Cta/CtaDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace tile {
#define GEN_PASS_DEF_TILEDEVICEDESCRIPTORS
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

/// Returns the loop in the descriptor's block that contains all accesses through it, or null.
scf::ForOp findOnlyLoop(MakeDescOp desc) {
  Operation *only = nullptr;
  for (Operation *user : desc->getUsers()) {
    Operation *place = desc->getBlock()->findAncestorOpInBlock(*user);
    if (only && only != place)
      return {};
    only = place;
  }
  return dyn_cast_if_present<scf::ForOp>(only);
}

/// Returns a pointer to each CTA's memory for `count` tensor maps.
Value emitScratch(KernelOp kernel, size_t count) {
  OpBuilder builder(kernel.getContext());
  Location loc = kernel.getLoc();
  int64_t bytes = count * cta::tensorMapBytes;
  auto attributes = builder.getDictionaryAttr(builder.getNamedAttr(scratchAttrName, builder.getI64IntegerAttr(bytes)));
  unsigned index = kernel.getNumArguments();
  (void)kernel.insertArgument(index, PtrType::get(kernel.getContext(), builder.getI8Type()), attributes, loc);
  builder.setInsertionPointToStart(&kernel.getBody().front());
  Value cta = arith::ExtUIOp::create(builder, loc, builder.getI64Type(), ProgramIdOp::create(builder, loc, 0));
  Value size = arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(bytes));
  return AddPtrOp::create(builder, loc, kernel.getArgument(index), arith::MulIOp::create(builder, loc, cta, size));
}

void setScratchOffset(MakeDescOp desc, Value scratch, size_t number) {
  OpBuilder builder(desc);
  Location loc = desc.getLoc();
  if (scf::ForOp loop = findOnlyLoop(desc)) {
    desc->moveBefore(loop);
    builder.setInsertionPoint(desc);
    desc.getNeededMutable().assign(LoopRange(builder, loop).emitAny());
  }
  if (number != 0) {
    Value offset = arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(number * cta::tensorMapBytes));
    scratch = AddPtrOp::create(builder, loc, scratch, offset);
  }
  desc.getPlaceMutable().assign(scratch);
}

struct TileDeviceDescriptors : tile::impl::TileDeviceDescriptorsBase<TileDeviceDescriptors> {
  void runOnKernel() override {
    KernelOp kernel = getOperation();
    SmallVector<MakeDescOp> plan = planDeviceDescriptors(kernel, [](MakeDescOp desc, const std::string &reason) {
      desc.emitRemark() << "descriptor gets no tensor map in the kernel: " << reason;
    });
    // The launcher provides scratch memory only to kernels for which it chooses the number of CTAs.
    if (plan.empty() || !kernel.getPrograms())
      return;
    Value scratch = emitScratch(kernel, plan.size());
    for (auto [number, desc] : llvm::enumerate(plan)) {
      keepOutsideEmpty(desc);
      setScratchOffset(desc, scratch, number);
    }
  }
};

} // namespace
