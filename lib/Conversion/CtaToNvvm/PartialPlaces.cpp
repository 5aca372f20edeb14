// Accesses of partial sums; see PartialPlaces.h.
#include "PartialPlaces.h"
#include "EmitLayout.h"

#include "Cta/CtaDialect.h"
#include "Target/GpuTarget.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <numeric>

using namespace mlir;

namespace tile::conversion {

PartialPlaces::PartialPlaces(RankedTensorType type) : element(type.getElementType()) {
  const layout::LinearLayout &layout = cta::getLayout(type);
  width = std::gcd<int64_t>(4, layout.numRegisters());
  threads = layout.numWarps() * target::threadsPerWarp;
}

Value PartialPlaces::emitBase(OpBuilder &builder, Location loc, Value pointer) const {
  Value offset = arith::MulIOp::create(builder, loc, emitThreadId(builder, loc), emitI32(builder, loc, bytes()));
  return LLVM::GEPOp::create(builder, loc, pointer.getType(), builder.getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{offset});
}

Value PartialPlaces::emitAccess(OpBuilder &builder, Location loc, Value base, int64_t index) const {
  return emitByteOffset(builder, loc, base, index * threads * bytes());
}

void PartialPlaces::emitStores(OpBuilder &builder, Location loc, ValueRange registers, Value base) const {
  auto vectorType = VectorType::get(width, element);
  for (int64_t first = 0; first < int64_t(registers.size()); first += width) {
    Value vector = LLVM::UndefOp::create(builder, loc, vectorType);
    for (int64_t i = 0; i < width; ++i)
      vector = LLVM::InsertElementOp::create(builder, loc, vector, registers[first + i], emitI32(builder, loc, i));
    LLVM::StoreOp::create(builder, loc, vector, emitAccess(builder, loc, base, first / width), bytes());
  }
}

SmallVector<Value> PartialPlaces::emitSums(OpBuilder &builder, Location loc, ValueRange registers, Value base) const {
  auto vectorType = VectorType::get(width, element);
  SmallVector<Value> sums;
  for (int64_t first = 0; first < int64_t(registers.size()); first += width) {
    Value address = emitAccess(builder, loc, base, first / width);
    Value vector = LLVM::LoadOp::create(builder, loc, vectorType, address, bytes());
    for (int64_t i = 0; i < width; ++i) {
      Value part = LLVM::ExtractElementOp::create(builder, loc, vector, emitI32(builder, loc, i));
      Value value = registers[first + i];
      sums.push_back(element.isF32() ? arith::AddFOp::create(builder, loc, value, part).getResult()
                                     : arith::AddIOp::create(builder, loc, value, part).getResult());
    }
  }
  return sums;
}

} // namespace tile::conversion
