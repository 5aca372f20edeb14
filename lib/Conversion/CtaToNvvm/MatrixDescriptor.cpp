// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Implements MatrixDescriptor.h.
#include "MatrixDescriptor.h"

#include "EmitLayout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using tile::layout::SwizzleForm;

namespace tile::conversion {

static constexpr int64_t atomRows = 8;
static constexpr uint64_t tcgen05Version = uint64_t(1) << 46;

int64_t MatrixOperand::strideOffset() const {
  return atomRows * swizzle();
}

int64_t MatrixOperand::byteOffset(int64_t row, int64_t kIndex) const {
  int64_t along = kMajor ? kIndex : row, across = kMajor ? row : kIndex, acrossExtent = kMajor ? extent : k;
  int64_t panel = along / form.panelElements, inside = along % form.panelElements;
  return panel * acrossExtent * swizzle() + across * swizzle() + inside * elementBytes;
}

std::optional<MatrixOperand> planMatrixOperand(cta::BufferType type, unsigned kDim) {
  MatrixOperand operand;
  operand.elementBytes = getBytesInMemory(type.getElementType());
  std::optional<SwizzleForm> form = layout::matchSwizzle(type.getLayout().getLayout(), operand.elementBytes);
  if (!form || form->swizzleBytes == 0)
    return std::nullopt;
  operand.form = *form;
  operand.kMajor = form->order.front() == kDim;
  operand.extent = type.getShape()[1 - kDim];
  operand.k = type.getShape()[kDim];
  // According to the PTX ISA ("Matrix descriptor"), m or n can be contiguous only for 16-bit types in wgmma.
  if (!operand.kMajor && operand.elementBytes != 2)
    return std::nullopt;
  return operand;
}

/// Returns the start address in units of 16 bytes.
static Value emitStart(OpBuilder &builder, Location loc, Value address, bool isInCluster) {
  Value units = arith::ShRUIOp::create(builder, loc, address, emitI32(builder, loc, 4));
  if (isInCluster) // higher bits of the address select the CTA of the cluster
    units = arith::AndIOp::create(builder, loc, units, emitI32(builder, loc, (1 << 14) - 1));
  return units;
}

Value emitScalesDescriptor(OpBuilder &builder, Location loc, Value buffer, bool isInCluster) {
  constexpr int64_t rowBytes = 16;
  Value address = LLVM::PtrToIntOp::create(builder, loc, builder.getI32Type(), buffer);
  Value start =
      arith::ExtUIOp::create(builder, loc, builder.getI64Type(), emitStart(builder, loc, address, isInCluster));
  uint64_t form = uint64_t(atomRows * rowBytes / 16) << 32 | tcgen05Version;
  return arith::OrIOp::create(builder, loc, start,
                              arith::ConstantIntOp::create(builder, loc, builder.getI64Type(), int64_t(form)));
}

DescriptorEmitter::DescriptorEmitter(OpBuilder &builder, Location loc, Format format, const MatrixOperand &operand,
                                     Value buffer, Value firstRow, bool isInCluster)
    : builder(builder), loc(loc), operand(operand) {
  Value address = LLVM::PtrToIntOp::create(builder, loc, builder.getI32Type(), buffer);
  if (firstRow) {
    // Each warp group's rows start at a panel or at an atom, so the distance is the row index times a constant.
    int64_t bytesPerRow = operand.kMajor ? operand.swizzle() : operand.k * operand.elementBytes;
    Value bytes = arith::MulIOp::create(builder, loc, firstRow, emitI32(builder, loc, bytesPerRow));
    address = arith::AddIOp::create(builder, loc, address, bytes);
  }
  Value units = emitStart(builder, loc, address, isInCluster);
  low = arith::OrIOp::create(builder, loc, units, emitI32(builder, loc, operand.leadingOffset() / 16 << 16));
  // The swizzle field of wgmma has two bits: 1, 2 and 3 stand for 128, 64 and 32 bytes. The field of tcgen05 has a
  // third, less significant bit, which is 0, so both are encoded in the same way.
  uint64_t mode = operand.swizzle() == 128 ? 1 : operand.swizzle() == 64 ? 2 : 3;
  high = mode << 62 | uint64_t(operand.strideOffset() / 16) << 32;
  if (format == Format::Wgmma)
    return;
  // One thread issues many instructions, so it builds the 64-bit descriptor of the first tile once and adds the offset
  // of each tile to it. The start address field does not overflow into the next one.
  high |= tcgen05Version;
  Value wide = arith::ExtUIOp::create(builder, loc, builder.getI64Type(), low);
  Value constant = arith::ConstantIntOp::create(builder, loc, builder.getI64Type(), int64_t(high));
  whole = arith::OrIOp::create(builder, loc, wide, constant);
}

Value DescriptorEmitter::at(int64_t row, int64_t k) {
  if (whole) {
    Value distance = arith::ConstantIntOp::create(builder, loc, builder.getI64Type(), operand.byteOffset(row, k) / 16);
    return arith::AddIOp::create(builder, loc, whole, distance);
  }
  Value start = arith::AddIOp::create(builder, loc, low, emitI32(builder, loc, operand.byteOffset(row, k) / 16));
  Value wide = arith::ExtUIOp::create(builder, loc, builder.getI64Type(), start);
  Value constant = arith::ConstantIntOp::create(builder, loc, builder.getI64Type(), int64_t(high));
  return arith::OrIOp::create(builder, loc, wide, constant);
}

} // namespace tile::conversion
