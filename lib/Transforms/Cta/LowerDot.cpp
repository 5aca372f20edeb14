// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cta-lower-dot: lower dots to tensor-core instructions or fused multiply-adds.
//
// cta-assign-layouts has placed operands and accumulator as the dot's engine requires. A dot becomes a cta.mma_sync, or
// one per K step of the instruction (MmaSteps.h), or a cta.wgmma, which reads the buffers that TMA or threads have
// filled (and the left operand from registers, if it was computed there), or a cta.tcgen05_mma, which is awaited
// immediately, and whose accumulator passes through tensor memory (cta-keep-accumulators leaves it there in loops). If
// loops move the accumulator of a wgmma to other registers, the accumulator is copied after its wait. Two cases need
// more: `tf32x3` splits each operand into its tf32 part and the remainder and adds three MMAs; types that the tensor
// cores lack go through shared memory to cta.fma_dot.
//
//   %d = tile.dot %a, %b, %c : #a, #b -> #acc   ==>   %d = cta.mma_sync %a, %b, %c {shape = 16, 8, 16}
#include "Analysis/Engines/EngineChoice.h"
#include "Cta/CtaDialect.h"
#include "Layout/ShapeTransforms.h"
#include "Layout/SharedLayouts.h"
#include "Target/Engines/MmaSync.h"
#include "Target/Engines/Tcgen05.h"
#include "Transforms/Cta/DotReport.h"
#include "Transforms/Cta/MmaSteps.h"
#include "Transforms/Cta/MovedAccumulators.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tile {
#define GEN_PASS_DEF_CTALOWERDOT
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

/// The bits of an f32 that tf32 keeps: sign, 8 exponent bits, 10 mantissa bits.
constexpr uint32_t tf32Mask = 0xffffe000;

/// Returns {high, low} with x = high + low, where high is a tf32 value.
std::pair<Value, Value> splitTf32(OpBuilder &builder, Location loc, Value x) {
  Type intType = withElementType(x.getType(), builder.getI32Type());
  Value mask = arith::ConstantOp::create(
      builder, loc, SplatElementsAttr::get(cast<ShapedType>(intType), builder.getI32IntegerAttr(int32_t(tf32Mask))));
  Value bits = arith::BitcastOp::create(builder, loc, intType, x);
  Value high = arith::BitcastOp::create(builder, loc, x.getType(), arith::AndIOp::create(builder, loc, bits, mask));
  return {high, arith::SubFOp::create(builder, loc, x, high)};
}

Value lowerToMma(OpBuilder &builder, DotOp dot, cta::MmaSyncAttr engine) {
  Location loc = dot.getLoc();
  auto shape = builder.getDenseI32ArrayAttr({target::mmaSyncRows, target::mmaSyncColumns, int32_t(engine.getK())});
  auto multiply = [&](Value a, Value b, Value acc) -> Value {
    return cta::MmaSyncOp::create(builder, loc, acc.getType(), a, b, acc, dot.getAScale(), dot.getBScale(), shape);
  };
  if (dot.isPromoted()) {
    auto zeros = cast<TypedAttr>(builder.getZeroAttr(dot.getType()));
    Value sum = multiply(dot.getA(), dot.getB(), arith::ConstantOp::create(builder, loc, zeros));
    return arith::AddFOp::create(builder, loc, sum, dot.getAcc());
  }
  if (!dot.getA().getType().getElementType().isF32() || dot.getPrecision() == InputPrecision::tf32)
    return multiply(dot.getA(), dot.getB(), dot.getAcc());
  auto [highA, lowA] = splitTf32(builder, loc, dot.getA());
  auto [highB, lowB] = splitTf32(builder, loc, dot.getB());
  // Adds the small terms first, so that they are not lost in the large sum.
  Value acc = multiply(lowA, highB, dot.getAcc());
  acc = multiply(highA, lowB, acc);
  return multiply(highA, highB, acc);
}

Value lowerToFma(OpBuilder &builder, DotOp dot) {
  auto store = [&](Value operand) -> Value {
    auto type = cast<RankedTensorType>(operand.getType());
    std::vector<int64_t> shape(type.getShape().begin(), type.getShape().end());
    auto layout = cta::LayoutAttr::get(type.getContext(), layout::unswizzledShared(shape, {1, 0}));
    auto buffer = cta::AllocOp::create(
        builder, dot.getLoc(),
        cta::BufferType::get(type.getContext(), type.getShape(), type.getElementType(), layout, /*slots=*/1),
        /*offset=*/IntegerAttr());
    cta::LocalStoreOp::create(builder, dot.getLoc(), operand, buffer);
    return buffer;
  };
  Value a = store(dot.getA()), b = store(dot.getB());
  return cta::FmaDotOp::create(builder, dot.getLoc(), dot.getAcc().getType(), a, b, dot.getAcc());
}

/// Returns the buffer of an operand, with its dimensions ordered as in the dot.
Value viewBlock(OpBuilder &builder, Value operand) {
  SharedOperand block = traceOperand(operand);
  auto load = cast<cta::LocalLoadOp>(block.source);
  if (!block.transposed)
    return load.getBuffer();
  return cta::TransBufferOp::create(builder, load.getLoc(), load.getBuffer().getType().transposed(), load.getBuffer());
}

/// Returns true if threads compute the left operand from copies in shared memory, which can overlap with wgmmas.
bool isComputedFromCopies(DotOp dot) {
  SetVector<Value> visited;
  visited.insert(dot.getA());
  bool hasCopies = false;
  for (size_t index = 0; index < visited.size(); ++index) {
    Operation *op = visited[index].getDefiningOp();
    if (!op || op->getBlock() != dot->getBlock() || !isa<RankedTensorType>(visited[index].getType()))
      continue;
    if (isa<DotOp, cta::WgmmaOp, cta::AwaitOp>(op))
      return false;
    hasCopies |= isa<cta::LocalLoadOp>(op);
    if (isMemoryEffectFree(op))
      visited.insert_range(op->getOperands());
  }
  return hasCopies;
}

Value lowerToWgmma(OpBuilder &builder, DotOp dot, cta::WgmmaAttr engine) {
  Location loc = dot.getLoc();
  Value a = engine.isFromRegisters() ? dot.getA() : viewBlock(builder, dot.getA());
  IntegerAttr promote = engine.getPromote() ? builder.getI32IntegerAttr(engine.getPromote()) : IntegerAttr();
  bool isStepwise = engine.isFromRegisters() && isComputedFromCopies(dot);
  auto wgmma = cta::WgmmaOp::create(builder, loc, a, viewBlock(builder, dot.getB()), dot.getAcc(),
                                    /*accumulate=*/Value(), builder.getI32IntegerAttr(engine.getN()),
                                    builder.getI32IntegerAttr(engine.getGroupsN()), promote,
                                    isStepwise ? builder.getUnitAttr() : UnitAttr());
  return cta::AwaitOp::create(builder, loc, wgmma.getResult(), wgmma.getToken(), wgmma.getColumnsAttr());
}

/// Allocates tensor memory for the scales of both operands.
Value allocateScales(OpBuilder &builder, DotOp dot) {
  auto columnsOf = [](RankedTensorType scales) {
    return target::scaleColumnsOf(scales.getDimSize(0), scales.getDimSize(1));
  };
  constexpr int64_t least = 8; // the minimum width of the type
  int64_t columns = columnsOf(dot.getAScale().getType()) + columnsOf(dot.getBScale().getType());
  SmallVector<int64_t> shape{target::tensorMemoryLanes, std::max<int64_t>(least, llvm::PowerOf2Ceil(columns))};
  auto type = cta::TensorMemoryType::get(dot.getContext(), shape, builder.getI32Type(), /*slots=*/1);
  return cta::TensorMemoryAllocOp::create(builder, dot.getLoc(), type, /*base=*/Value(), /*offset=*/IntegerAttr());
}

/// Returns the transposed matrix, whose elements stay in the threads that hold them.
Value transposeRegisters(OpBuilder &builder, Location loc, Value matrix) {
  auto before = matrix.getDefiningOp<TransOp>();
  if (before && before.getOrder()[0] == 1)
    return before.getSrc();
  auto type = cast<RankedTensorType>(matrix.getType());
  auto layout = cta::LayoutAttr::get(builder.getContext(), layout::permuteDims(cta::getLayout(type), {1, 0}));
  auto result = RankedTensorType::get({type.getDimSize(1), type.getDimSize(0)}, type.getElementType(), layout);
  return TransOp::create(builder, loc, result, matrix, ArrayRef<int32_t>{1, 0});
}

/// Returns the buffer of an operand with rows and columns exchanged.
Value viewTransposed(OpBuilder &builder, Value operand) {
  Value buffer = viewBlock(builder, operand);
  return cta::TransBufferOp::create(builder, operand.getLoc(), cast<cta::BufferType>(buffer.getType()).transposed(),
                                    buffer);
}

/// Stores the accumulator to tensor memory, multiplies, waits and loads it again.
Value lowerToTcgen05(OpBuilder &builder, DotOp dot, cta::Tcgen05Attr engine) {
  Location loc = dot.getLoc();
  const bool isTransposed = engine.getResultTransposed();
  Value acc = isTransposed ? transposeRegisters(builder, loc, dot.getAcc()) : dot.getAcc();
  auto type = cast<RankedTensorType>(acc.getType());
  Value b = isTransposed ? viewTransposed(builder, dot.getA()) : viewBlock(builder, dot.getB());
  int64_t columns = cast<cta::BufferType>(b.getType()).getShape()[1];
  IntegerAttr computed = columns == type.getDimSize(1) ? IntegerAttr() : builder.getI32IntegerAttr(columns);
  OpBuilder outside = OpBuilder::atBlockBegin(&dot->getParentOfType<KernelOp>().getBody().front());
  auto allocate = [&](RankedTensorType of) -> Value {
    SmallVector<int64_t> shape{std::max<int64_t>(of.getDimSize(0), engine.getM()), of.getDimSize(1)};
    auto memory = cta::TensorMemoryType::get(dot.getContext(), shape, of.getElementType(), /*slots=*/1);
    return cta::TensorMemoryAllocOp::create(outside, loc, memory, /*base=*/Value(), /*offset=*/IntegerAttr());
  };
  Value memory = allocate(type);
  Value done = cta::MbarrierAllocOp::create(outside, loc, cta::MbarrierType::get(dot.getContext(), /*slots=*/1),
                                            /*arrivals=*/1, /*offset=*/IntegerAttr());
  bool isFresh = matchPattern(dot.getAcc(), m_AnyZeroFloat()) || matchPattern(dot.getAcc(), m_Zero());
  Value accumulate;
  if (isFresh)
    accumulate = arith::ConstantIntOp::create(builder, loc, builder.getI1Type(), 0);
  else
    cta::TensorMemoryStoreOp::create(builder, loc, acc, memory, computed);
  Value a, scaleA, scaleB, scales;
  if (cta::BufferEngine(engine).isFromRegisters()) {
    a = allocate(dot.getA().getType());
    cta::TensorMemoryStoreOp::create(builder, loc, dot.getA(), a, /*columns=*/IntegerAttr());
  } else {
    a = isTransposed ? viewTransposed(builder, dot.getB()) : viewBlock(builder, dot.getA());
  }
  if (dot.isScaled()) {
    scaleA = viewBlock(builder, dot.getAScale());
    scaleB = viewBlock(builder, dot.getBScale());
    scales = allocateScales(outside, dot);
  }
  cta::Tcgen05MmaOp::create(builder, loc, a, b, memory, accumulate, scaleA, scaleB, scales, engine.getM(),
                            engine.getN());
  Value slot = arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), 0);
  cta::Tcgen05CommitOp::create(builder, loc, done, slot);
  cta::Tcgen05AwaitOp::create(builder, loc, done);
  Value result = cta::TensorMemoryLoadOp::create(builder, loc, type, memory, computed);
  return isTransposed ? transposeRegisters(builder, loc, result) : result;
}

/// Checks that operands that are read from shared memory are there; this fails only for hand-written engines.
LogicalResult checkOperands(DotOp dot) {
  cta::BufferEngine engine = getBufferEngine(dot);
  auto isInBuffer = [](Value operand) {
    auto load = dyn_cast_if_present<cta::LocalLoadOp>(traceOperand(operand).source);
    return load && (!load.getStart() || llvm::all_of(*load.getStart(), [](int32_t start) { return start == 0; }));
  };
  bool areScales = !dot.isScaled() || (isInBuffer(dot.getAScale()) && isInBuffer(dot.getBScale()));
  if (!engine || (areScales && isInBuffer(dot.getB()) && (engine.isFromRegisters() || isInBuffer(dot.getA()))))
    return success();
  return dot.emitError() << "operands of a dot with engine " << Attribute(engine)
                         << " must be in shared memory, but are not loaded from there";
}

Value lower(OpBuilder &builder, DotOp dot) {
  if (auto engine = dyn_cast<cta::WgmmaAttr>(dot.getEngineAttr()))
    return lowerToWgmma(builder, dot, engine);
  if (auto engine = dyn_cast<cta::Tcgen05Attr>(dot.getEngineAttr()))
    return lowerToTcgen05(builder, dot, engine);
  if (auto engine = dyn_cast<cta::MmaSyncAttr>(dot.getEngineAttr()))
    return lowerToMma(builder, dot, engine);
  return lowerToFma(builder, dot);
}

/// Copies an accumulator that moves to other registers, for example because a loop swaps two accumulators.
void copyAfterWait(OpBuilder &builder, cta::AwaitOp await) {
  builder.setInsertionPointAfter(await);
  auto copy = cta::CopyRegistersOp::create(builder, await.getLoc(), await);
  await.getResult().replaceAllUsesExcept(copy.getResult(), copy);
}

/// Erases loads and conversions of operands that MMAs now read from buffers. Visits users before their operands.
void eraseUnused(KernelOp kernel) {
  kernel->walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isa<cta::LocalLoadOp, cta::ConvertLayoutOp, TransOp>(op) && isOpTriviallyDead(op))
      op->erase();
  });
}

/// If threads also load an operand that an MMA reads from a buffer, sinks this load below the MMA: to the load's first
/// use, or into the branch that needs it.
void readAfterWgmmas(KernelOp kernel) {
  SmallVector<cta::LocalLoadOp> loads;
  kernel.walk([&](cta::LocalLoadOp load) {
    if (llvm::any_of(load.getBuffer().getUsers(), llvm::IsaPred<cta::WgmmaOp, cta::Tcgen05MmaOp, cta::TransBufferOp>))
      loads.push_back(load);
  });
  for (cta::LocalLoadOp load : loads) {
    Operation *first = nullptr;
    for (Operation *user : load->getUsers()) {
      Operation *place = load->getBlock()->findAncestorOpInBlock(*user);
      if (!first || place->isBeforeInBlock(first))
        first = place;
    }
    // A buffer that is filled in each iteration keeps its contents until the end of the iteration.
    auto alloc = load.getBuffer().getDefiningOp<cta::AllocOp>();
    bool isFilledInBlock = alloc && alloc->getBlock() == load->getBlock();
    if (!first || !isFilledInBlock)
      continue;
    load->moveBefore(first);
    auto branch = dyn_cast<scf::IfOp>(first);
    if (!branch)
      continue;
    for (Block *block : {branch.thenBlock(), branch.elseBlock()})
      if (block && llvm::all_of(load->getUsers(), [&](Operation *user) { return block->findAncestorOpInBlock(*user); }))
        load->moveBefore(block, block->begin());
  }
}

struct CtaLowerDot : tile::impl::CtaLowerDotBase<CtaLowerDot> {
  void runOnKernel() override {
    const target::GpuTarget &gpu = cta::getTarget(getOperation());
    SmallVector<DotOp> dots;
    getOperation().walk([&](DotOp dot) { dots.push_back(dot); });
    if (llvm::any_of(dots, [](DotOp dot) { return failed(checkOperands(dot)); }))
      return signalPassFailure();
    // With tcgen05, one thread issues all MMAs, so there are no teams that could alternate.
    if (llvm::any_of(dots, [](DotOp dot) { return isa<cta::Tcgen05Attr>(dot.getEngineAttr()); }))
      getOperation().setPingPong(false);
    for (DotOp dot : dots) {
      OpBuilder builder(dot);
      dot.emitRemark() << "dot uses " << reportEngine(dot, gpu, getOperation().getNumWarps()) << " (" << gpu.name
                       << ")";
      dot.replaceAllUsesWith(lower(builder, dot));
      dot.erase();
    }
    eraseUnused(getOperation());
    readAfterWgmmas(getOperation());
    splitIntoSteps(getOperation());
    OpBuilder builder(&getContext());
    for (cta::AwaitOp await : findMovedAccumulators(getOperation())) {
      auto wgmma = await.getAcc().getDefiningOp<cta::WgmmaOp>();
      if (!wgmma || !wgmma.isSynchronous())
        copyAfterWait(builder, await);
    }
  }
};

} // namespace
