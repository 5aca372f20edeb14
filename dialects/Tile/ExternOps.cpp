// Verification and effects of code in the language of the target.
#include "Tile/TileDialect.h"

using namespace mlir;
using namespace tile;

void InlineAsmOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  if (getIsPure())
    return;
  effects.emplace_back(MemoryEffects::Read::get(), GlobalMemory::get());
  effects.emplace_back(MemoryEffects::Write::get(), GlobalMemory::get());
}

LogicalResult InlineAsmOp::verify() {
  uint32_t pack = getPack();
  if (pack < 1 || pack > 16 || !llvm::isPowerOf2_32(pack))
    return emitOpError() << "pack is " << pack << " but must be a power of two from 1 to 16";
  if (getIsPure() && getResults().empty())
    return emitOpError() << "is pure and has no result";
  size_t registers = 0;
  for (Type type : llvm::concat<const Type>(getResultTypes(), getArgs().getTypes())) {
    unsigned bits = getElementTypeOf(type).getIntOrFloatBitWidth();
    registers += llvm::divideCeil(pack, std::max(1u, 32 / std::max(bits, 8u)));
  }
  SmallVector<StringRef> letters;
  getConstraints().split(letters, ',', -1, /*KeepEmpty=*/false);
  size_t given = llvm::count_if(letters, [](StringRef text) { return !text.trim().starts_with("~"); });
  if (given != registers)
    return emitOpError() << "has " << given << " constraints but its operands take " << registers
                         << " registers for each " << pack << " elements";
  return success();
}
