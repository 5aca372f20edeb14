// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Composes the remark of cta-lower-dot.
#include "Transforms/Cta/DotReport.h"

#include "Analysis/Engines/EngineChoice.h"
#include "Target/Engines/MmaSync.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tile;

/// Describes how wgmma gets the operand.
static StringRef describeSource(Value operand, cta::BufferEngine engine, bool isInRegisters) {
  if (isInRegisters)
    return isa<cta::Tcgen05Attr>(Attribute(engine)) ? "stored to tensor memory" : "in registers";
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

std::string tile::reportEngine(DotOp dot, const target::GpuTarget &target, unsigned numWarps) {
  std::string text;
  llvm::raw_string_ostream report(text);
  if (cta::BufferEngine engine = getBufferEngine(dot)) {
    Attribute any = engine;
    if (auto tcgen05 = dyn_cast<cta::Tcgen05Attr>(any))
      report << "tcgen05 m" << tcgen05.getM() << "n" << tcgen05.getN() << "k" << tcgen05.getK();
    else if (auto wgmma = dyn_cast<cta::WgmmaAttr>(any))
      report << "wgmma m64n" << wgmma.getN() << "k" << wgmma.getK();
    report << (dot.isScaled() ? " with scales" : "") << "; a is "
           << describeSource(dot.getA(), engine, engine.isFromRegisters()) << ", b "
           << describeSource(dot.getB(), engine, /*isInRegisters=*/false);
    return text;
  }
  if (auto engine = dyn_cast<cta::MmaSyncAttr>(dot.getEngineAttr()))
    report << "mma.sync m" << target::mmaSyncRows << "n" << target::mmaSyncColumns << "k" << engine.getK();
  else
    report << "fused multiply-adds";
  if (dot.isScaled()) {
    report << " with scales";
    return text;
  }
  report << ": " << whyNoWgmma(dot, target, numWarps);
  return text;
}
