// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Accesses to partial accumulators; see PartialOffsets.h.
#include "PartialOffsets.h"
#include "EmitLayout.h"

#include "Cta/CtaDialect.h"
#include "Target/GpuTarget.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <numeric>

using namespace mlir;

namespace tile::conversion {

PartialOffsets::PartialOffsets(RankedTensorType type, std::optional<uint32_t> columns)
    : moved(cta::registersInColumns(type, columns)), element(type.getElementType()) {
  width = std::gcd<int64_t>(4, moved.size());
  warps = cta::getLayout(type).numWarps();
  warpBytes = warpStride = moved.size() * target::threadsPerWarp * registerBytes;
}

Value PartialOffsets::emitWarpPart(OpBuilder &builder, Location loc, Value pointer) const {
  Value warp = arith::ShRUIOp::create(builder, loc, emitThreadId(builder, loc), emitI32(builder, loc, 5));
  Value offset = arith::MulIOp::create(builder, loc, warp, emitI32(builder, loc, warpStride));
  return LLVM::GEPOp::create(builder, loc, pointer.getType(), builder.getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{offset});
}

Value PartialOffsets::emitBase(OpBuilder &builder, Location loc, Value pointer) const {
  Value part = emitWarpPart(builder, loc, pointer);
  Value lane = arith::AndIOp::create(builder, loc, emitThreadId(builder, loc), emitI32(builder, loc, 31));
  Value offset = arith::MulIOp::create(builder, loc, lane, emitI32(builder, loc, accessBytes()));
  return LLVM::GEPOp::create(builder, loc, part.getType(), builder.getI8Type(), part, ArrayRef<LLVM::GEPArg>{offset});
}

Value PartialOffsets::emitAccess(OpBuilder &builder, Location loc, Value base, int64_t index) const {
  return emitByteOffset(builder, loc, base, index * target::threadsPerWarp * accessBytes());
}

void PartialOffsets::emitStores(OpBuilder &builder, Location loc, ValueRange registers, Value base) const {
  auto vectorType = VectorType::get(width, element);
  for (int64_t first = 0; first < int64_t(moved.size()); first += width) {
    Value vector = LLVM::UndefOp::create(builder, loc, vectorType);
    for (int64_t i = 0; i < width; ++i)
      vector =
          LLVM::InsertElementOp::create(builder, loc, vector, registers[moved[first + i]], emitI32(builder, loc, i));
    LLVM::StoreOp::create(builder, loc, vector, emitAccess(builder, loc, base, first / width), accessBytes());
  }
}

SmallVector<Value> PartialOffsets::emitAdditions(OpBuilder &builder, Location loc, ValueRange registers,
                                                 Value base) const {
  auto vectorType = VectorType::get(width, element);
  SmallVector<Value> sums(registers);
  for (int64_t first = 0; first < int64_t(moved.size()); first += width) {
    Value address = emitAccess(builder, loc, base, first / width);
    Value vector = LLVM::LoadOp::create(builder, loc, vectorType, address, accessBytes());
    for (int64_t i = 0; i < width; ++i) {
      Value part = LLVM::ExtractElementOp::create(builder, loc, vector, emitI32(builder, loc, i));
      Value &sum = sums[moved[first + i]];
      sum = element.isF32() ? arith::AddFOp::create(builder, loc, sum, part).getResult()
                            : arith::AddIOp::create(builder, loc, sum, part).getResult();
    }
  }
  return sums;
}

} // namespace tile::conversion
