// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Computes the vector width of global-memory accesses from the layout and from the facts about the addresses.
#include "Analysis/Addresses/AccessVector.h"

#include "Cta/CtaDialect.h"

using namespace mlir;
using namespace tile;

namespace {

/// The lowest register bits of a layout that move along `dim` by 1, 2, 4, …: they give each thread `elements`
/// consecutive elements.
struct RegisterRun {
  unsigned dim = 0;
  int64_t elements = 1;
};

} // namespace

static RegisterRun findRegisterRun(const layout::LinearLayout &layout) {
  layout::Bases registers = layout.bases(layout::registerDim);
  RegisterRun run;
  if (registers.empty())
    return run;
  for (unsigned dim = 0; dim < layout.rank(); ++dim)
    if (registers.front()[dim] == 1)
      run.dim = dim;
  unsigned bits = 0;
  for (; bits < registers.size(); ++bits) {
    std::vector<int32_t> expected(layout.rank(), 0);
    expected[run.dim] = 1 << bits;
    if (registers[bits] != expected)
      break;
  }
  // All other bits must not change the position inside the run, or the elements of some threads would be permuted.
  int32_t others = 0;
  for (const layout::InDim &input : layout.inDims())
    for (auto [bit, basis] : llvm::enumerate(input.bases))
      if (input.name != layout::registerDim || bit >= bits)
        others |= basis[run.dim];
  unsigned freeBits = others == 0 ? 31 : llvm::countr_zero(uint32_t(others));
  run.elements = int64_t(1) << std::min(bits, freeBits);
  return run;
}

int64_t tile::getConsecutiveElements(const layout::LinearLayout &layout) {
  return findRegisterRun(layout).elements;
}

int64_t tile::getAccessVector(Value pointer, Value mask, AxisInfoAnalysis &analysis) {
  cta::LayoutAttr layout = cta::getLayoutAttr(pointer.getType());
  if (!layout)
    return 1;
  RegisterRun run = findRegisterRun(layout.getLayout());
  // 16 bytes: the widest load and store of one thread (PTX ISA, "ld", .v4.b32).
  int64_t limit = 16 / getBytesInMemory(cast<PtrType>(getElementTypeOf(pointer.getType())).getPointee());
  int64_t vector = std::min({run.elements, analysis.get(pointer).getAlignedContiguity(run.dim), limit});
  if (mask)
    vector = std::min(vector, analysis.get(mask).getConstancy(run.dim));
  return vector;
}

int64_t tile::getUnalignedRun(Value pointer, unsigned dim, AxisInfoAnalysis &analysis) {
  constexpr int64_t accessBytes = 16, copyBytes = 4;
  int64_t bytes = getBytesInMemory(cast<PtrType>(getElementTypeOf(pointer.getType())).getPointee());
  const AxisInfo &info = analysis.get(pointer);
  bool isWide = info.getContiguity(dim) * bytes >= accessBytes;
  return isWide && info.getAlignedContiguity(dim) * bytes < copyBytes ? accessBytes / bytes : 1;
}

int64_t tile::getUnalignedVector(Value pointer, Value mask, AxisInfoAnalysis &analysis) {
  cta::LayoutAttr layout = cta::getLayoutAttr(pointer.getType());
  if (!layout)
    return 1;
  RegisterRun run = findRegisterRun(layout.getLayout());
  int64_t elements = getUnalignedRun(pointer, run.dim, analysis);
  if (elements > run.elements)
    return 1;
  return mask ? std::min(elements, analysis.get(mask).getConstancy(run.dim)) : elements;
}
