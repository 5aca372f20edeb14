// Partial sums and flags in global memory, through which the CTAs of a grid share work.
//
// Thread t of n holds register 4 i … 4 i + 3 at byte 16 (i n + t): one coalesced access of 16 bytes a lane.
#include "EmitLayout.h"
#include "Patterns.h"
#include "Ptx.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <numeric>

using namespace mlir;

namespace tile::conversion {

namespace {

constexpr int64_t registerBytes = 4;

/// Where a thread's registers lie.
struct PartialPlaces {
  std::vector<int32_t> registers; ///< That move.
  int64_t width;                  ///< Registers in one access: 4, 2 or 1.
  int64_t threads;                ///< That hold the tensor.

  PartialPlaces(RankedTensorType type, std::optional<uint32_t> columns)
      : registers(cta::registersInColumns(type, columns)) {
    width = std::gcd<int64_t>(4, registers.size());
    threads = cta::getLayout(type).numWarps() * target::threadsPerWarp;
  }
  int64_t bytes() const { return width * registerBytes; }

  Value emitBase(OpBuilder &builder, Location loc, Value pointer) const {
    Value offset = arith::MulIOp::create(builder, loc, emitThreadId(builder, loc), emitI32(builder, loc, bytes()));
    return LLVM::GEPOp::create(builder, loc, pointer.getType(), builder.getI8Type(), pointer,
                               ArrayRef<LLVM::GEPArg>{offset});
  }
  Value emitAccess(OpBuilder &builder, Location loc, Value base, int64_t index) const {
    return emitByteOffset(builder, loc, base, index * threads * bytes());
  }
};

struct PartialStoreLowering : OpConversionPattern<cta::PartialStoreOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::PartialStoreOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getValue().getType());
    PartialPlaces places(type, op.getColumns());
    Value base = places.emitBase(rewriter, loc, adaptor.getPtr().front());
    auto vectorType = VectorType::get(places.width, type.getElementType());
    for (int64_t first = 0; first < int64_t(places.registers.size()); first += places.width) {
      Value vector = LLVM::UndefOp::create(rewriter, loc, vectorType);
      for (int64_t i = 0; i < places.width; ++i)
        vector = LLVM::InsertElementOp::create(rewriter, loc, vector, adaptor.getValue()[places.registers[first + i]],
                                               emitI32(rewriter, loc, i));
      LLVM::StoreOp::create(rewriter, loc, vector, places.emitAccess(rewriter, loc, base, first / places.width),
                            places.bytes());
    }
    rewriter.eraseOp(op);
    return success();
  }
};

struct PartialAddLowering : OpConversionPattern<cta::PartialAddOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::PartialAddOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getValue().getType());
    PartialPlaces places(type, op.getColumns());
    Value base = places.emitBase(rewriter, loc, adaptor.getPtr().front());
    auto vectorType = VectorType::get(places.width, type.getElementType());
    Registers sums(adaptor.getValue());
    for (int64_t first = 0; first < int64_t(places.registers.size()); first += places.width) {
      Value address = places.emitAccess(rewriter, loc, base, first / places.width);
      Value vector = LLVM::LoadOp::create(rewriter, loc, vectorType, address, places.bytes());
      for (int64_t i = 0; i < places.width; ++i) {
        Value part = LLVM::ExtractElementOp::create(rewriter, loc, vector, emitI32(rewriter, loc, i));
        Value &sum = sums[places.registers[first + i]];
        sum = type.getElementType().isF32() ? arith::AddFOp::create(rewriter, loc, sum, part).getResult()
                                            : arith::AddIOp::create(rewriter, loc, sum, part).getResult();
      }
    }
    rewriter.replaceOpWithMultiple(op, {sums});
    return success();
  }
};

struct FlagSetLowering : OpConversionPattern<cta::FlagSetOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::FlagSetOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    PtxStatement statement;
    statement.text = "@$1 st.release.gpu.global.b32 [$0], 1;";
    statement.operands = {adaptor.getPtr(), emitIsFirstThread(rewriter, loc)};
    emitPtx(rewriter, loc, statement);
    rewriter.eraseOp(op);
    return success();
  }
};

struct FlagWaitLowering : OpConversionPattern<cta::FlagWaitOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::FlagWaitOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto branch = scf::IfOp::create(rewriter, loc, emitIsFirstThread(rewriter, loc), /*withElseRegion=*/false);
    rewriter.setInsertionPointToStart(branch.thenBlock());
    PtxStatement statement;
    statement.text = "{\n.reg .pred absent;\n.reg .b32 flag;\nagain:\nld.acquire.gpu.global.b32 flag, [$0];\n"
                     "setp.eq.b32 absent, flag, 0;\n@absent bra again;\nst.relaxed.gpu.global.b32 [$0], 0;\n}";
    statement.operands = {adaptor.getPtr()};
    emitPtx(rewriter, loc, statement);
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void populateGridPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<PartialStoreLowering, PartialAddLowering, FlagSetLowering, FlagWaitLowering>(converter,
                                                                                            patterns.getContext());
}

} // namespace tile::conversion
