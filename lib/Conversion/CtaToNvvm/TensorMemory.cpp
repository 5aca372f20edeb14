// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensor memory and its MMAs (PTX ISA, "TensorCore 5th Generation Family Instructions").
//
// A tensor-memory address has the lane in its upper half and the column in its lower half. Warp w can access only the
// 32 lanes that start at lane 32 * (w mod 4). If an accumulator has more than 128 rows, the next block of 128 rows is
// in the next columns:
//
//   256 x 64:  rows 0 to 127 in columns 0 to 63, rows 128 to 255 in columns 64 to 127
#include "TensorMemory.h"
#include "EmitLayout.h"
#include "Patterns.h"
#include "Ptx.h"
#include "Tma.h"
#include "Words.h"

#include "Target/Engines/Tcgen05.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tile::conversion {

void emitTensorFence(OpBuilder &builder, Location loc, bool before) {
  NVVM::Tcgen05FenceOp::create(
      builder, loc, before ? NVVM::Tcgen05FenceKind::BEFORE_THREAD_SYNC : NVVM::Tcgen05FenceKind::AFTER_THREAD_SYNC);
}

Value emitTensorAddress(OpBuilder &builder, Location loc, Value address, int64_t columns) {
  return arith::AddIOp::create(builder, loc, address, emitI32(builder, loc, columns));
}

LogicalResult checkTensorMemory(Operation *op, const target::GpuTarget &gpu) {
  if (!gpu.has(target::Feature::Tcgen05))
    return op->emitOpError() << "needs tensor memory, which " << gpu.name << " lacks; sm_100a has it";
  return success();
}

namespace {

constexpr int64_t fullRows = target::tensorMemoryLanes;
constexpr unsigned laneShift = 16;

/// Converts an address to the pointer type that NVVM operations take.
Value emitPointer(OpBuilder &builder, Location loc, Value address) {
  return LLVM::IntToPtrOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext(), tensorMemorySpace),
                                  address);
}

/// Describes how all warps of a role access an accumulator: for each block of 128 rows, each thread holds consecutive
/// registers.
struct AccessPlan {
  Value first;           ///< Address of this warp's part of its first block.
  Value group;           ///< Index of this warp's part of the columns, uniform in the warp; null if there is one.
  int64_t groups = 1;    ///< Number of parts into which the columns are divided.
  int64_t blocks = 1;    ///< Number of blocks of rows in which a thread has registers.
  int64_t blockStep = 0; ///< Distance in columns from one block to the next.
  int64_t columns = 0;   ///< Number of columns in a part.
  int64_t computed = 0;  ///< Number of columns that are moved, in all parts together.
  int64_t most = 0;      ///< Maximum number of registers that one instruction moves.
  NVVM::Tcgen05LdStShape shape = NVVM::Tcgen05LdStShape::SHAPE_32X32B;

  bool isHalf() const { return shape == NVVM::Tcgen05LdStShape::SHAPE_16X256B; }
  /// Returns the number of registers of a thread for `count` columns of a block.
  int64_t registersOf(int64_t count) const { return isHalf() ? count / 2 : count; }
  /// Returns the number of columns of part `part` that are moved.
  int64_t computedOf(int64_t part) const { return std::clamp<int64_t>(computed - part * columns, 0, columns); }
  /// Returns the suffix, such as "16x256b.x32", of an instruction that moves `count` registers.
  std::string suffixOf(int64_t count) const {
    return isHalf() ? "16x256b.x" + std::to_string(count / 4) : "32x32b.x" + std::to_string(count);
  }
};

/// An instruction that moves `count` registers, starting with register `begin`, to or from `address`.
struct AccessStep {
  Value address;
  int64_t begin, count;
};

/// Returns the instructions that move the first `columns` columns of a part.
SmallVector<AccessStep> emitSteps(OpBuilder &builder, Location loc, const AccessPlan &plan, int64_t columns) {
  SmallVector<AccessStep> steps;
  for (int64_t block = 0; block < plan.blocks; ++block)
    for (int64_t begin = 0, end = plan.registersOf(columns), count = 0; begin < end; begin += count) {
      count = std::min<int64_t>(plan.most, llvm::bit_floor(uint64_t(end - begin)));
      int64_t column = plan.isHalf() ? 2 * begin : begin;
      steps.push_back({emitTensorAddress(builder, loc, plan.first, block * plan.blockStep + column),
                       block * plan.registersOf(plan.columns) + begin, count});
    }
  return steps;
}

/// Returns the maximum number of a thread's registers that one instruction may move, a power of two. The thread must
/// have enough registers for these and for all others of the tensor at the same time; otherwise ptxas fails instead of
/// spilling.
int64_t maxRegistersOf(Operation *op) {
  auto function = op->getParentOfType<LLVM::LLVMFuncOp>();
  auto threads = function->getAttrOfType<DenseI32ArrayAttr>(NVVM::NVVMDialect::getReqntidAttrName());
  auto ctas = function->getAttrOfType<IntegerAttr>(NVVM::NVVMDialect::getMinctasmAttrName());
  const int64_t share = target::registersPerSm / (threads.asArrayRef().front() * (ctas ? ctas.getInt() : 1));
  return llvm::bit_floor(uint64_t(std::min<int64_t>(share, target::maxRegistersPerThread)) / 2);
}

AccessPlan planAccess(OpBuilder &builder, Operation *op, Value memory, cta::TensorMemoryType type, unsigned warps,
                      std::optional<uint32_t> columns) {
  Location loc = op->getLoc();
  AccessPlan plan;
  plan.most = maxRegistersOf(op);
  const int64_t m = type.getShape()[0], n = type.getShape()[1] / type.getElementsPerColumn(),
                groups = warps / target::warpsPerGroup;
  const int64_t groupsM = m < fullRows ? 1 : std::min<int64_t>(groups, m / fullRows);
  if (m < fullRows)
    plan.shape = NVVM::Tcgen05LdStShape::SHAPE_16X256B;
  plan.groups = groups / groupsM;
  plan.blocks = m < fullRows ? 1 : m / fullRows / groupsM;
  plan.blockStep = n;
  plan.columns = n / plan.groups;
  plan.computed = columns.value_or(n);
  Value warp = emitUniformWarpId(builder, loc);
  Value quarter = arith::AndIOp::create(builder, loc, warp, emitI32(builder, loc, target::warpsPerGroup - 1));
  Value offset = arith::ShLIOp::create(builder, loc, quarter, emitI32(builder, loc, laneShift + 5));
  if (groups > 1) {
    Value group = arith::ShRUIOp::create(builder, loc, warp, emitI32(builder, loc, 2));
    group = arith::AndIOp::create(builder, loc, group, emitI32(builder, loc, groups - 1));
    Value ofRows = arith::AndIOp::create(builder, loc, group, emitI32(builder, loc, groupsM - 1));
    plan.group = arith::ShRUIOp::create(builder, loc, group, emitI32(builder, loc, llvm::Log2_64(uint64_t(groupsM))));
    auto addTimes = [&](Value index, int64_t step) {
      Value distance = arith::MulIOp::create(builder, loc, index, emitI32(builder, loc, step));
      offset = arith::AddIOp::create(builder, loc, offset, distance);
    };
    addTimes(ofRows, plan.blocks * plan.blockStep);
    addTimes(plan.group, plan.columns);
  }
  plan.first = arith::AddIOp::create(builder, loc, memory, offset);
  return plan;
}

/// Emits `access(columns)` for this warp's part. The number of columns to move may differ between parts: all columns of
/// the first parts, some of the next part, and none of the remaining ones. Returns the results of `access`, which have
/// the given types.
Registers emitForPart(OpBuilder &builder, Location loc, const AccessPlan &plan, TypeRange types,
                      llvm::function_ref<Registers(int64_t)> access) {
  const int64_t whole = plan.computed / plan.columns;
  if (whole == plan.groups)
    return access(plan.columns);
  if (plan.groups == 1)
    return access(plan.computed);
  auto branchIf = [&](arith::CmpIPredicate predicate, llvm::function_ref<Registers()> then,
                      llvm::function_ref<Registers()> otherwise) {
    Value is = arith::CmpIOp::create(builder, loc, predicate, plan.group, emitI32(builder, loc, whole));
    auto branch = scf::IfOp::create(builder, loc, types, is, /*withElseRegion=*/true);
    for (auto [block, body] : {std::pair(branch.thenBlock(), then), std::pair(branch.elseBlock(), otherwise)}) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(block);
      Registers results = body();
      if (types.empty())
        continue;
      scf::YieldOp::create(builder, loc, results);
    }
    return Registers(branch.getResults());
  };
  return branchIf(
      arith::CmpIPredicate::ult, [&] { return access(plan.columns); },
      [&] {
        return branchIf(
            arith::CmpIPredicate::eq, [&] { return access(plan.computedOf(whole)); }, [&] { return access(0); });
      });
}

struct OpenLowering : OpConversionPattern<cta::TensorMemoryOpenOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::TensorMemoryOpenOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value isFirst = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, emitUniformWarpId(rewriter, loc),
                                          emitI32(rewriter, loc, 0));
    auto branch = scf::IfOp::create(rewriter, loc, isFirst, /*withElseRegion=*/false);
    {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(branch.thenBlock());
      NVVM::Tcgen05AllocOp::create(rewriter, loc, adaptor.getPlace(), emitI32(rewriter, loc, op.getColumns()));
      NVVM::Tcgen05RelinquishAllocPermitOp::create(rewriter, loc);
    }
    emitTensorFence(rewriter, loc, /*before=*/true);
    NVVM::BarrierOp::create(rewriter, loc);
    emitTensorFence(rewriter, loc, /*before=*/false);
    Value base = LLVM::LoadOp::create(rewriter, loc, rewriter.getI32Type(), adaptor.getPlace(), /*alignment=*/4,
                                      /*isVolatile=*/true);
    // TMA copies may reuse the shared memory that held the address.
    cta::ProxyFenceOp::create(rewriter, loc);
    rewriter.replaceOp(op, base);
    return success();
  }
};

struct CloseLowering : OpConversionPattern<cta::TensorMemoryCloseOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::TensorMemoryCloseOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    std::optional<cta::Role> role = cta::findRole(op);
    emitTensorFence(rewriter, loc, /*before=*/true);
    cta::BarrierOp::create(rewriter, loc, /*groups=*/false);
    Value isFirst = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, emitUniformWarpId(rewriter, loc),
                                          emitI32(rewriter, loc, role ? role->getFirstWarp() : 0));
    auto branch = scf::IfOp::create(rewriter, loc, isFirst, /*withElseRegion=*/false);
    rewriter.setInsertionPointToStart(branch.thenBlock());
    emitTensorFence(rewriter, loc, /*before=*/false);
    NVVM::Tcgen05DeallocOp::create(rewriter, loc, emitPointer(rewriter, loc, adaptor.getBase()),
                                   emitI32(rewriter, loc, op.getColumns()));
    rewriter.eraseOp(op);
    return success();
  }
};

struct TensorAllocLowering : OpConversionPattern<cta::TensorMemoryAllocOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::TensorMemoryAllocOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, emitTensorAddress(rewriter, op.getLoc(), adaptor.getBase(), int32_t(*op.getOffset())));
    return success();
  }
};

struct TensorSlotLowering : OpConversionPattern<cta::TensorMemorySlotOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::TensorMemorySlotOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value columns = emitI32(rewriter, loc, op.getMemory().getType().getColumnsPerSlot());
    Value offset = arith::MulIOp::create(rewriter, loc, adaptor.getSlot(), columns);
    rewriter.replaceOpWithNewOp<arith::AddIOp>(op, adaptor.getMemory(), offset);
    return success();
  }
};

struct TensorLoadLowering : OpConversionPattern<cta::TensorMemoryLoadOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::TensorMemoryLoadOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto result = cast<RankedTensorType>(op.getResult().getType());
    const layout::LinearLayout &layout = cta::getLayout(result);
    Type element = getTypeConverter()->convertType(result.getElementType());
    AccessPlan plan = planAccess(rewriter, op, adaptor.getMemory().front(), op.getMemory().getType(), layout.numWarps(),
                                 op.getColumns());
    SmallVector<Type> types(layout.numRegisters(), element);
    Registers values = emitForPart(rewriter, loc, plan, types,
                                   [&](int64_t columns) { return emitLoad(rewriter, loc, plan, columns, types); });
    rewriter.replaceOpWithMultiple(op, {values});
    return success();
  }

private:
  /// Loads the first `columns` columns of this warp's part; the registers of the other columns are zero. Load and wait
  /// are one statement, so that no register is used before it has been written.
  static Registers emitLoad(OpBuilder &builder, Location loc, const AccessPlan &plan, int64_t columns,
                            ArrayRef<Type> types) {
    Registers values(types.size());
    for (const AccessStep &step : emitSteps(builder, loc, plan, columns)) {
      PtxStatement statement;
      statement.operands.push_back(step.address);
      statement.results.append(step.count, types.front());
      statement.text = "tcgen05.ld.sync.aligned." + plan.suffixOf(step.count) + ".b32 {";
      for (int64_t index = 0; index < step.count; ++index)
        statement.text += (index ? ", $" : "$") + std::to_string(index);
      statement.text += "}, [$" + std::to_string(step.count) + "];\ntcgen05.wait::ld.sync.aligned;";
      llvm::copy(emitPtx(builder, loc, statement), values.begin() + step.begin);
    }
    Value zero;
    for (Value &value : values)
      if (!value) {
        if (!zero)
          zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(types.front()));
        value = zero;
      }
    return values;
  }
};

struct TensorStoreLowering : OpConversionPattern<cta::TensorMemoryStoreOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::TensorMemoryStoreOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getValue().getType());
    AccessPlan plan = planAccess(rewriter, op, adaptor.getMemory().front(), op.getMemory().getType(),
                                 cta::getLayout(type).numWarps(), op.getColumns());
    SmallVector<Value> values(adaptor.getValue());
    if (const unsigned perColumn = op.getMemory().getType().getElementsPerColumn(); perColumn > 1)
      values = packWords(rewriter, loc, values, {32, unsigned(values.size() / perColumn), perColumn});
    emitForPart(rewriter, loc, plan, {}, [&](int64_t columns) {
      emitStore(rewriter, loc, plan, columns, values);
      return Registers();
    });
    rewriter.eraseOp(op);
    return success();
  }

private:
  static void emitStore(OpBuilder &builder, Location loc, const AccessPlan &plan, int64_t columns, ValueRange values) {
    Type i32 = builder.getI32Type();
    for (const AccessStep &step : emitSteps(builder, loc, plan, columns)) {
      auto wordAt = [&](int64_t index) -> Value {
        Value value = values[step.begin + index];
        return value.getType() == i32 ? value : LLVM::BitcastOp::create(builder, loc, i32, value);
      };
      Value words = wordAt(0);
      if (step.count > 1) {
        words = LLVM::PoisonOp::create(builder, loc, VectorType::get({step.count}, i32));
        for (int64_t index = 0; index < step.count; ++index)
          words = LLVM::InsertElementOp::create(builder, loc, words, wordAt(index), emitI32(builder, loc, index));
      }
      NVVM::Tcgen05StOp::create(builder, loc, /*unpack=*/false, plan.shape, emitPointer(builder, loc, step.address),
                                words, /*offset=*/Value());
    }
    if (columns > 0)
      NVVM::Tcgen05WaitOp::create(builder, loc, NVVM::Tcgen05WaitKind::STORE);
  }
};

struct TensorFenceLowering : OpConversionPattern<cta::TensorMemoryFenceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::TensorMemoryFenceOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    emitTensorFence(rewriter, op.getLoc(), op.getBefore());
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void registerTensorMemoryLowerings(Lowerings &lowerings) {
  lowerings.patterns.add<OpenLowering, CloseLowering, TensorAllocLowering, TensorSlotLowering, TensorLoadLowering,
                         TensorStoreLowering, TensorFenceLowering>(lowerings.converter, lowerings.context);
  lowerings.check<cta::TensorMemoryOpenOp>(checkTensorMemory);
  lowerings.check<cta::TensorMemoryAllocOp>(
      [](cta::TensorMemoryAllocOp op, const target::GpuTarget &) -> LogicalResult {
        if (!op.getBase())
          return op.emitOpError() << "has no address; run cta-allocate-tensor-memory first";
        return success();
      });
}

} // namespace tile::conversion
