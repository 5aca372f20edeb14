// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensor maps that a kernel encodes, or that it finds in memory (PTX ISA, "tensormap.replace" and "membar, fence":
// fence.proxy.tensormap).
//
//   zero 128 bytes of shared memory; tensormap.replace each field there (in global memory each would take a round trip)
//   copy them to global memory by ordinary stores; fence.proxy.tensormap release, then acquire, by the same thread
//
// If one thread encodes several maps one after another, they share one release, which waits until all stores have
// reached L2.
//
// tensormap.cp_fenceproxy would copy and release in one instruction, but requires a whole warp, whereas the producer is
// a single thread.
#include "EmitLayout.h"
#include "Patterns.h"
#include "Ptx.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/FormatVariadic.h"

#include <bit>

using namespace mlir;

namespace tile::conversion {

namespace {

constexpr int64_t vectorBytes = 16;

/// Returns the element type of a tensor map. Unsigned integers of 8, 16, 32 and 64 bits are 0, 1, 2 and 4 (PTX ISA,
/// "Tensor-map new value validity", elemtype). TMA copies only bits, so any type of the right size will do.
unsigned elementTypeOf(int64_t bytes) {
  return bytes == 8 ? 4 : std::countr_zero(uint64_t(bytes));
}

/// Returns the swizzle mode: 0, 1, 2 and 3 for no swizzle and for 32, 64 and 128 bytes (same section, swizzle_mode).
unsigned swizzleModeOf(int64_t bytes) {
  return bytes == 0 ? 0 : std::countr_zero(uint64_t(bytes)) - 4;
}

class TensorMapEmitter {
public:
  TensorMapEmitter(OpBuilder &builder, cta::MakeTensorMapOp op, cta::MakeTensorMapOp::Adaptor adaptor)
      : builder(builder), loc(op.getLoc()), op(op), adaptor(adaptor) {}

  /// Emits code that encodes the map. With `isReleased`, also releases the map, so that the thread can acquire it.
  void emit(bool isReleased) {
    statement.operands = {adaptor.getStaging(), adaptor.getPlace()};
    for (int64_t byte = 0; byte < cta::tensorMapBytes; byte += vectorBytes)
      text += llvm::formatv("st.shared.v4.b32 [$0+{0}], {{zero, zero, zero, zero};\n", byte).str();
    emitFields();
    for (int64_t byte = 0; byte < cta::tensorMapBytes; byte += vectorBytes)
      text += llvm::formatv("ld.shared.v4.b32 {{w0, w1, w2, w3}, [$0+{0}];\n"
                            "st.global.v4.b32 [$1+{0}], {{w0, w1, w2, w3};\n",
                            byte)
                  .str();
    if (isReleased)
      text += "fence.proxy.tensormap::generic.release.gpu;\n";
    statement.text = "{\n.reg .b32 zero, w0, w1, w2, w3;\nmov.b32 zero, 0;\n" + text + "}";
    emitPtx(builder, loc, statement);
  }

private:
  /// Emits tensormap.replace for one field. `ordinal` is the dimension, for fields with one value per dimension.
  void replace(StringRef field, StringRef type, StringRef value, int64_t ordinal = -1) {
    text += "tensormap.replace.tile." + field.str() + ".shared::cta.b1024." + type.str() + " [$0], " +
            (ordinal < 0 ? "" : std::to_string(ordinal) + ", ") + value.str() + ";\n";
  }

  std::string operand(Value value) {
    statement.operands.push_back(value);
    return "$" + std::to_string(statement.operands.size() - 1);
  }

  void emitFields() {
    int64_t rank = op.getBox().size(), bytes = getBytesInMemory(op.getResult().getType().getElementType());
    Value one = emitI32(builder, loc, 1);
    std::string oneText = operand(one);
    replace("global_address", "b64", operand(adaptor.getBase()));
    replace("rank", "b32", std::to_string(rank - 1));
    for (int64_t ordinal = 0; ordinal < rank; ++ordinal) {
      int64_t dim = rank - 1 - ordinal; // innermost first
      replace("box_dim", "b32", operand(emitI32(builder, loc, op.getBox()[dim])), ordinal);
      // The dimensions of a tensor map cannot be 0. If a dimension of the tensor is 0, the kernel accesses nothing, so
      // 1 is used.
      Value size = arith::MaxSIOp::create(builder, loc, adaptor.getShape()[dim], one);
      replace("global_dim", "b32", operand(size), ordinal);
      replace("element_stride", "b32", oneText, ordinal);
      if (dim == 0)
        continue;
      Value scale = arith::ConstantIntOp::create(builder, loc, builder.getI64Type(), bytes);
      Value stride = arith::MulIOp::create(builder, loc, adaptor.getStrides()[dim - 1], scale);
      replace("global_stride", "b64", operand(stride), ordinal);
    }
    replace("elemtype", "b32", std::to_string(elementTypeOf(bytes)));
    replace("interleave_layout", "b32", "0");
    replace("swizzle_mode", "b32", std::to_string(swizzleModeOf(op.getSwizzle())));
    replace("fill_mode", "b32", "0");
  }

  OpBuilder &builder;
  Location loc;
  cta::MakeTensorMapOp op;
  cta::MakeTensorMapOp::Adaptor adaptor;
  PtxStatement statement;
  std::string text;
};

/// Returns the last map of the run that starts at `op`: maps that a single thread encodes under the same condition,
/// with only computations between them.
cta::MakeTensorMapOp findLastOfRun(cta::MakeTensorMapOp op) {
  cta::MakeTensorMapOp last = op;
  for (Operation *next = op->getNextNode(); next && op.getSingle(); next = next->getNextNode()) {
    auto map = dyn_cast<cta::MakeTensorMapOp>(next);
    if (map && map.getSingle() && map.getNeeded() == op.getNeeded())
      last = map;
    else if (map || !isMemoryEffectFree(next))
      break;
  }
  return last;
}

struct MakeTensorMapLowering : OpConversionPattern<cta::MakeTensorMapOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::MakeTensorMapOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    cta::MakeTensorMapOp last = findLastOfRun(op);
    emitIfNeeded(op, adaptor, rewriter, [&] {
      if (op.getSingle())
        TensorMapEmitter(rewriter, op, adaptor).emit(/*isReleased=*/last == op);
      else
        emitByFirstThread(op, adaptor, rewriter);
    });
    {
      OpBuilder::InsertionGuard guard(rewriter);
      if (last != op)
        rewriter.setInsertionPointAfter(last);
      emitIfNeeded(op, adaptor, rewriter, [&] {
        emitPtx(rewriter, loc,
                {.text = "fence.proxy.tensormap::generic.acquire.gpu [$0], 128;", .operands = {adaptor.getPlace()}});
      });
    }
    Type generic = getTypeConverter()->convertType(op.getResult().getType());
    rewriter.replaceOpWithNewOp<LLVM::AddrSpaceCastOp>(op, generic, adaptor.getPlace());
    return success();
  }

private:
  static void emitIfNeeded(cta::MakeTensorMapOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter,
                           function_ref<void()> emit) {
    OpBuilder::InsertionGuard guard(rewriter);
    if (adaptor.getNeeded()) {
      auto branch = scf::IfOp::create(rewriter, op.getLoc(), adaptor.getNeeded(), /*withElseRegion=*/false);
      rewriter.setInsertionPointToStart(branch.thenBlock());
    }
    emit();
  }

  /// Lets the first thread encode the map. After the emitted acquire, each thread may copy through the map.
  static void emitByFirstThread(cta::MakeTensorMapOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) {
    Location loc = op.getLoc();
    // Copies to global memory may still be reading the previous map, and other threads may still be accessing the
    // staging buffer's memory.
    NVVM::CpAsyncBulkWaitGroupOp::create(rewriter, loc, 0, /*read=*/UnitAttr());
    cta::BarrierOp::create(rewriter, loc, /*groups=*/false);
    {
      OpBuilder::InsertionGuard guard(rewriter);
      auto branch = scf::IfOp::create(rewriter, loc, emitIsFirstOfRole(rewriter, op), /*withElseRegion=*/false);
      rewriter.setInsertionPointToStart(branch.thenBlock());
      TensorMapEmitter(rewriter, op, adaptor).emit(/*isReleased=*/true);
    }
    cta::BarrierOp::create(rewriter, loc, /*groups=*/false);
  }
};

/// Emits an acquire; afterwards each thread may copy through the map.
struct AcquireTensorMapLowering : OpConversionPattern<AcquireTensorMapOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(AcquireTensorMapOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    emitPtx(rewriter, op.getLoc(),
            {.text = "fence.proxy.tensormap::generic.acquire.gpu [$0], 128;", .operands = {adaptor.getPlace()}});
    rewriter.eraseOp(op);
    return success();
  }
};

struct OpenTensorMapLowering : OpConversionPattern<OpenTensorMapOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(OpenTensorMapOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Type generic = getTypeConverter()->convertType(op.getResult().getType());
    rewriter.replaceOpWithNewOp<LLVM::AddrSpaceCastOp>(op, generic, adaptor.getPlace());
    return success();
  }
};

} // namespace

static LogicalResult checkTensorMapInMemory(Operation *op, const target::GpuTarget &gpu) {
  if (!gpu.has(target::Feature::Tma))
    return op->emitOpError() << "needs TMA, which " << gpu.name << " lacks; sm_90 and later have it";
  return success();
}

static LogicalResult checkMakeTensorMap(cta::MakeTensorMapOp op, const target::GpuTarget &gpu) {
  if (!gpu.has(target::Feature::SetMaxRegisters))
    return op.emitOpError() << "needs tensormap.replace, which " << gpu.name << " lacks; sm_90a has it";
  return success();
}

void registerTensorMapLowerings(Lowerings &lowerings) {
  lowerings.patterns.add<MakeTensorMapLowering, AcquireTensorMapLowering, OpenTensorMapLowering>(lowerings.converter,
                                                                                                 lowerings.context);
  lowerings.check<cta::MakeTensorMapOp>(checkMakeTensorMap);
  lowerings.check<AcquireTensorMapOp, OpenTensorMapOp>(checkTensorMapInMemory);
}

} // namespace tile::conversion
