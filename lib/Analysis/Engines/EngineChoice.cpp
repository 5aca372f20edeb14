// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses the instruction of a dot, and how the warps that execute it are arranged along M and N.
#include "Analysis/Engines/EngineChoice.h"

#include "Analysis/Dots/OperandBytes.h"
#include "Analysis/Dots/PackedOperands.h"
#include "Analysis/Dots/PaddedBlocks.h"
#include "Analysis/Dots/SwappedDot.h"
#include "Analysis/Flow/Recreate.h"
#include "Analysis/Loops/LoopRange.h"
#include "Analysis/Programs/RolePlan.h"
#include "Target/Engines/BufferEngines.h"
#include "Target/Engines/MmaSync.h"
#include "Target/Engines/Tcgen05.h"
#include "Target/Plan/OperandOrders.h"
#include "Target/Plan/RoleRegisters.h"
#include "Target/Tuned.h"

using namespace mlir;
using namespace tile;
using target::MmaType;
using target::OperandSource;

namespace {

/// The tensor-core types of operands and accumulator.
struct DotTypes {
  MmaType a, b, accumulator;
};

/// The sources of wgmma operands. TMA blocks are row-major in shared memory, as in global memory, and may be read
/// transposed. Threads can store either dimension contiguously, so operands that they store restrict no choice.
struct Operands {
  OperandSource sourceA = OperandSource::Tma, sourceB = OperandSource::Tma;
  bool aTransposed = false, bTransposed = false;
  /// Whether threads read `a` from a TMA block into registers, because wgmma cannot read it from there.
  bool isReadFromBlock = false;
  int64_t repeats = 1; ///< How many times threads store the rows of `a` to fill all rows of an instruction.
};

/// Returns the memory layouts of a dot's blocks.
target::BlockOrders ordersOf(DotOp dot, bool aTransposed, bool bTransposed) {
  return {.bits = 8 * unsigned(getBytesInMemory(dot.getA().getType().getElementType())),
          .aKMajor = !aTransposed,
          .bKMajor = bTransposed};
}

/// Returns the operand sources for TMA blocks with these memory layouts.
Operands blocksIn(DotOp dot, bool aTransposed, bool bTransposed) {
  target::BlockSources sources = target::sourcesInOrder(ordersOf(dot, aTransposed, bTransposed));
  return {.sourceA = sources.a,
          .sourceB = sources.b,
          .aTransposed = aTransposed,
          .bTransposed = bTransposed,
          .isReadFromBlock = sources.a == OperandSource::Registers};
}

/// Returns the operands that TMA copies as blocks and threads store transposed.
SmallVector<Value> getTransposed(DotOp dot, cta::BufferEngine engine) {
  SmallVector<Value> stored;
  if (engine && engine.getSourceA() == OperandSource::Transposed)
    stored.push_back(skipTranspositions(dot.getA()).first);
  if (engine && engine.getSourceB() == OperandSource::Transposed)
    stored.push_back(skipTranspositions(dot.getB()).first);
  return stored;
}

} // namespace

/// Returns the tensor-core types of a dot; nullopt if the tensor cores do not support the types, or if f32 operands
/// must not be rounded.
static std::optional<DotTypes> getMmaTypes(DotOp dot) {
  Type element = dot.getA().getType().getElementType();
  if (element.isF32() && dot.getPrecision() == InputPrecision::ieee)
    return std::nullopt;
  std::optional<MmaType> a = getMmaType(dot.getMultipliedType(dot.getA())),
                         b = getMmaType(dot.getMultipliedType(dot.getB()));
  std::optional<MmaType> acc = getAccumulatorType(dot.getAcc().getType().getElementType());
  if (!a || !b || !acc)
    return std::nullopt;
  return DotTypes{*a, *b, *acc};
}

/// If an operand is a block loaded through a descriptor, returns the block's shape before tile-pad-blocks; otherwise
/// returns the operand's shape.
static SmallVector<int64_t> getBlockShape(Value operand) {
  SharedOperand block = traceOperand(operand);
  SmallVector<int64_t> shape;
  if (auto load = dyn_cast_or_null<DescLoadOp>(block.source))
    llvm::append_range(shape, dropLeadingOnes(load.getDesc().getType().getShape()));
  if (shape.size() != 2)
    return SmallVector<int64_t>(cast<RankedTensorType>(operand.getType()).getShape());
  if (block.transposed)
    std::swap(shape[0], shape[1]);
  return shape;
}

namespace {

/// `Given`: the dot as written. `Swapped`: tile-swap-dot replaces the dot with another dot, whose operands are the
/// transposed operands in swapped order. `Transposed`: the dot remains, but the instruction computes that other dot,
/// and threads transpose its result.
enum class OperandOrder { Given, Swapped, Transposed };

/// The engine planned for a dot and a target, which reads operands from shared memory; or why there is none.
struct BufferEnginePlan {
  cta::BufferEngine engine;
  std::string reason; ///< The reason if there is no engine.
};

} // namespace

static cta::BufferEngine makeWgmma(DotOp dot, const target::WgmmaPlan &plan, ArrayRef<Type> types,
                                   const Operands &operands, bool swapped) {
  return cta::WgmmaAttr::get(dot.getContext(), plan.n, plan.k, types[0], types[1], dot.getType().getElementType(),
                             plan.groupsM, plan.groupsN, operands.sourceA, operands.sourceB, plan.promote, swapped);
}

static cta::BufferEngine makeTcgen05(DotOp dot, const target::Tcgen05Plan &plan, ArrayRef<Type> types,
                                     const Operands &operands, unsigned numWarps, OperandOrder order) {
  const bool isTransposed = order == OperandOrder::Transposed;
  OperandSource sourceA = isTransposed ? operands.sourceB : operands.sourceA,
                sourceB = isTransposed ? operands.sourceA : operands.sourceB;
  return cta::Tcgen05Attr::get(dot.getContext(), plan.m, plan.n, plan.k, types[0], types[1],
                               dot.getType().getElementType(), numWarps, sourceA, sourceB,
                               order == OperandOrder::Swapped, unsigned(dot.getScaleGroup()), isTransposed);
}

/// Plans wgmma or tcgen05. `operands` describes the operands in the order in which the instruction takes them.
static BufferEnginePlan planBufferEngine(DotOp dot, const Operands &operands, const target::GpuTarget &target,
                                         unsigned numWarps, OperandOrder order = OperandOrder::Given) {
  const bool swapped = order != OperandOrder::Given;
  std::optional<DotTypes> types = getMmaTypes(dot);
  Type a = dot.getA().getType().getElementType();
  // tf32x3 splits the operands in registers, so instructions cannot read them from shared memory.
  if (!types || (a.isF32() && dot.getPrecision() != InputPrecision::tf32)) {
    std::string reason;
    llvm::raw_string_ostream os(reason);
    os << target::nameOfBufferEngine(target) << " does not support " << a << " times "
       << dot.getB().getType().getElementType() << " into " << dot.getType().getElementType();
    if (a.isF32())
      os << " with this input_precision; use 'tf32' or 16-bit types";
    return {{}, reason};
  }
  // Operands that threads store are padded, and so are values combined with them.
  auto shapeOf = [&](Value operand, OperandSource source) {
    bool isBlockInRegisters = operands.aTransposed && operands.sourceB == OperandSource::Tma;
    if (source == OperandSource::Tma || isBlockInRegisters)
      return getBlockShape(operand);
    auto isStored = [](OperandSource source) {
      return source == OperandSource::Threads || source == OperandSource::Transposed;
    };
    ArrayRef<int64_t> shape = cast<RankedTensorType>(operand.getType()).getShape();
    return isStored(operands.sourceB) || isStored(source) ? getPaddedShape(shape) : SmallVector<int64_t>(shape);
  };
  Value left = swapped ? dot.getB() : dot.getA(), right = swapped ? dot.getA() : dot.getB();
  SmallVector<int64_t> shapeA = shapeOf(left, operands.sourceA), shapeB = shapeOf(right, operands.sourceB);
  if (swapped) {
    std::swap(types->a, types->b);
    std::reverse(shapeA.begin(), shapeA.end());
    std::reverse(shapeB.begin(), shapeB.end());
  }
  target::WgmmaDot shape{.a = types->a,
                         .b = types->b,
                         .accumulator = types->accumulator,
                         .m = shapeA[0] * operands.repeats,
                         .n = shapeB[1],
                         .k = dot.isScaled() ? dot.getDepth() : shapeA[1],
                         .aKMajor = operands.sourceA != OperandSource::Tma || !operands.aTransposed,
                         .bKMajor = operands.sourceB != OperandSource::Tma || operands.bTransposed,
                         .fromRegisters = operands.sourceA == OperandSource::Registers,
                         .numWarps = numWarps,
                         .scaleGroup = unsigned(dot.getScaleGroup())};
  if (dot.isPromoted())
    shape.imprecise = dot.getMaxNumImpreciseAcc();
  SmallVector<Type, 2> elements{dot.getMultipliedType(dot.getA()), dot.getMultipliedType(dot.getB())};
  if (swapped)
    std::swap(elements[0], elements[1]);
  if (target.has(target::Feature::Tcgen05)) {
    if (operands.isReadFromBlock)
      return {{}, "tcgen05 needs k contiguous in blocks of " + std::string(target::mmaTypeName(types->a))};
    target::Tcgen05Result result = target::planTcgen05(target, shape);
    if (!result.plan)
      return {{}, result.reason};
    return {makeTcgen05(dot, *result.plan, elements, operands, numWarps, order), ""};
  }
  target::WgmmaResult result = target::planWgmma(target, shape);
  if (!result.plan)
    return {{}, result.reason};
  return {makeWgmma(dot, *result.plan, elements, operands, swapped), ""};
}

/// Returns true if mma.sync computes the dot in less time than it takes to move an accumulator through tensor memory.
/// A loop that only accumulates moves the accumulator once, so the dots of all its iterations count together.
static bool isSmall(DotOp dot, const target::GpuTarget &target) {
  int64_t terms = dot.getType().getNumElements() * dot.getDepth();
  if (std::optional<SwapPlan> plan = planSwap(dot); plan && plan->loop) {
    std::optional<APInt> iterations = countIterations(plan->loop);
    constexpr uint64_t many = 64;
    terms *= int64_t(iterations ? iterations->getLimitedValue(many) : many);
  }
  return terms < target::tunedOf(target).fewRowsTerms;
}

/// Plans a tcgen05 MMA that computes the transposed result, if the dot has fewer rows than the instruction requires:
/// the rows become columns of the instruction. All sizes must be powers of two, because threads transpose the result in
/// registers. Operands come from shared memory.
static BufferEnginePlan planTransposedResult(DotOp dot, Operands operands, const target::GpuTarget &target,
                                             unsigned numWarps) {
  SmallVector<int64_t> shape = getPaddedShape(dot.getType().getShape());
  if (!target.has(target::Feature::Tcgen05) || dot.isScaled() || !llvm::equal(shape, dot.getType().getShape()) ||
      !llvm::equal(shape, ArrayRef{getBlockShape(dot.getA())[0], getBlockShape(dot.getB())[1]}))
    return {};
  if (shape[0] >= target::wgmmaRows || shape[1] < target::wgmmaRows || isSmall(dot, target))
    return {};
  if (operands.sourceA == OperandSource::Registers)
    operands.sourceA = OperandSource::Threads;
  Operands others{.sourceA = operands.sourceB,
                  .sourceB = operands.sourceA,
                  .aTransposed = !operands.bTransposed,
                  .bTransposed = !operands.aTransposed};
  return planBufferEngine(dot, others, target, numWarps, OperandOrder::Transposed);
}

/// Plans tcgen05 for a dot with few rows and few columns: threads store the rows of `a` several times to fill all rows
/// of an instruction.
static BufferEnginePlan planRepeatedRows(DotOp dot, Operands operands, const target::GpuTarget &target,
                                         unsigned numWarps) {
  constexpr int64_t minRows = 16;
  const int64_t rows = dot.getType().getDimSize(0);
  if (!target.has(target::Feature::Tcgen05) || dot.isScaled() || !llvm::isPowerOf2_64(rows) || rows < minRows ||
      rows >= target::wgmmaRows || operands.sourceA != OperandSource::Threads || isSmall(dot, target))
    return {};
  operands.repeats = target::wgmmaRows / rows;
  return planBufferEngine(dot, operands, target, numWarps);
}

/// Chooses an engine for TMA blocks, with the operands in the given order or swapped.
static cta::BufferEngine chooseEitherOrder(DotOp dot, bool aTransposed, bool bTransposed,
                                           const target::GpuTarget &target, unsigned numWarps) {
  Operands operands = blocksIn(dot, aTransposed, bTransposed), others = blocksIn(dot, !bTransposed, !aTransposed);
  cta::BufferEngine engine = planBufferEngine(dot, operands, target, numWarps).engine;
  bool isReadInstead = target::swapSavesTransposition(ordersOf(dot, aTransposed, bTransposed));
  bool staysInOrder =
      dot.isScaled() || (engine ? !isReadInstead : !gainsBySwap(dot) || others.sourceA == OperandSource::Transposed);
  if (staysInOrder || others.sourceB == OperandSource::Transposed || !planSwap(dot))
    return engine;
  cta::BufferEngine swapped = planBufferEngine(dot, others, target, numWarps, OperandOrder::Swapped).engine;
  return swapped ? swapped : engine;
}

/// Returns the number of consecutive elements along k per thread: as many as a register holds, or as many as are packed
/// into one integer of an operand. In a chain of dots, the accumulator layout already fixes the positions of elements,
/// so the number is that of a register.
static unsigned chooseKWidth(DotOp dot, unsigned least, int64_t k) {
  constexpr int64_t lanesAlongK = 4;
  int64_t packed = std::min(countPackedAlongK(dot), k / lanesAlongK);
  return packed > int64_t(least) && !isInChain(dot) ? packed : least;
}

/// Chooses an engine if wgmma does not apply: the widest mma.sync instruction that multiplies the dot's types at the
/// required precision, otherwise fused multiply-adds.
static Engine chooseWarps(DotOp dot, const target::GpuTarget &target, unsigned numWarps) {
  MLIRContext *context = dot.getContext();
  std::optional<DotTypes> types = getMmaTypes(dot);
  if (!types)
    return cta::FmaAttr::get(context);
  SmallVector<int64_t> shape = getPaddedShape(dot.getType().getShape());
  int64_t k = llvm::PowerOf2Ceil(dot.getDepth());
  std::optional<target::MmaSyncPlan> plan = target::planMmaSync(target, {.a = types->a,
                                                                         .b = types->b,
                                                                         .accumulator = types->accumulator,
                                                                         .m = shape[0],
                                                                         .n = shape[1],
                                                                         .k = k,
                                                                         .numWarps = numWarps,
                                                                         .isChained = isInChain(dot),
                                                                         .scaleGroup = unsigned(dot.getScaleGroup())});
  if (!plan)
    return cta::FmaAttr::get(context);
  Type element = dot.getMultipliedType(dot.getA());
  // With more elements per thread, some of them would be multiplied by the scales of another group.
  unsigned least = cta::MmaSyncAttr::getLeastKWidth(element),
           kWidth = dot.isScaled() ? least : chooseKWidth(dot, least, k);
  return cta::MmaSyncAttr::get(context, plan->k, element, dot.getMultipliedType(dot.getB()),
                               dot.getType().getElementType(), plan->warpsM, plan->warpsN, kWidth,
                               unsigned(dot.getScaleGroup()));
}

/// Returns Registers for a left operand that is computed in registers, or Threads if tcgen05 cannot read the operand's
/// type from tensor memory.
static OperandSource sourceOfComputed(DotOp dot, Operands operands, const target::GpuTarget &target,
                                      unsigned numWarps) {
  operands.sourceA = OperandSource::Registers;
  bool isRead = !target.has(target::Feature::Tcgen05) || planBufferEngine(dot, operands, target, numWarps).engine;
  return isRead ? OperandSource::Registers : OperandSource::Threads;
}

/// Chooses an engine before descriptors are created, if descriptors can load the dot's operands.
cta::BufferEngine EngineChooser::chooseForBlocks(DotOp dot) {
  SharedOperand a = traceOperand(dot.getA()), b = traceOperand(dot.getB());
  if (!accesses->mayComeByTma(b))
    return {};
  Operands operands{.bTransposed = accesses->isReadTransposed(b)};
  if (accesses->mayComeByTma(a)) {
    bool aTransposed = accesses->isReadTransposed(a);
    cta::BufferEngine engine = chooseEitherOrder(dot, aTransposed, operands.bTransposed, target, numWarps);
    if (!engine) {
      operands.aTransposed = aTransposed;
      engine = planTransposedResult(dot, operands, target, numWarps).engine;
    }
    return makeRoom(getTransposed(dot, engine)) ? engine : cta::BufferEngine();
  }
  // If the other operand cannot be loaded through a descriptor, a load through pointers is not changed to use one. Rows
  // gathered through pointers are copied alongside the blocks of a descriptor that already exists.
  bool mayStay = isa<DescLoadOp>(b.source) || !isa_and_present<LoadOp>(a.source);
  if (!mayStay)
    return {};
  if (staysInRegisters(dot))
    operands.sourceA = sourceOfComputed(dot, operands, target, numWarps);
  else if (isa_and_present<LoadOp>(a.source))
    operands.sourceA = OperandSource::Threads;
  else
    return {};
  cta::BufferEngine engine = planBufferEngine(dot, operands, target, numWarps).engine;
  return engine ? engine : planTransposedResult(dot, operands, target, numWarps).engine;
}

/// Returns true if threads read the data of a left operand from copies in the fragment layout and compute the operand
/// in registers, without a buffer or a barrier. With several warp groups along N, each would repeat the computation.
static bool isReadFromCopies(DotOp dot, Operands operands, const target::GpuTarget &target, unsigned numWarps) {
  operands.sourceA = OperandSource::Registers;
  // With tensor memory, each thread would read a separate row.
  if (!isComputedFromLoads(dot) || target.has(target::Feature::Tcgen05))
    return false;
  cta::BufferEngine engine = planBufferEngine(dot, operands, target, numWarps).engine;
  return engine && engine.getGroupsN() == 1;
}

/// Chooses an engine for the operands' actual sources. Until descriptors are created, threads store all operands.
cta::BufferEngine EngineChooser::chooseForSources(DotOp dot) {
  SharedOperand a = traceOperand(dot.getA()), b = traceOperand(dot.getB());
  bool isBlockA = !accesses && isBlock(a), isBlockB = !accesses && isBlock(b);
  Operands operands{.aTransposed = a.transposed, .bTransposed = b.transposed};
  if (isBlockA && isBlockB)
    operands = blocksIn(dot, a.transposed, b.transposed);
  SmallVector<Value> stored;
  if (!isBlockB) {
    operands.sourceB = OperandSource::Threads;
    stored.push_back(skipTranspositions(dot.getB()).first);
  }
  // If the right operand is stored by threads, a left operand that is transposed or loop-invariant costs less in a
  // buffer than in registers.
  bool isComputed = isComputedFromDots(dot);
  bool isOperandInPlace = isBlockB ? isComputed || staysInRegisters(dot)
                                   : (isComputed && !a.transposed) || isReadFromCopies(dot, operands, target, numWarps);
  if (!isBlockA)
    operands.sourceA = isOperandInPlace ? sourceOfComputed(dot, operands, target, numWarps) : OperandSource::Threads;
  if (!isBlockA && operands.sourceA == OperandSource::Threads)
    stored.push_back(skipTranspositions(dot.getA()).first);
  cta::BufferEngine engine = planBufferEngine(dot, operands, target, numWarps).engine;
  if (!engine) {
    Operands given{.sourceA = isBlockA ? OperandSource::Tma : OperandSource::Threads,
                   .sourceB = isBlockB ? OperandSource::Tma : OperandSource::Threads,
                   .aTransposed = a.transposed,
                   .bTransposed = b.transposed};
    engine = planTransposedResult(dot, given, target, numWarps).engine;
    if (!engine)
      engine = planRepeatedRows(dot, given, target, numWarps).engine;
    if (engine && operands.sourceA == OperandSource::Registers)
      stored.push_back(skipTranspositions(dot.getA()).first);
  }
  if (isBlockA && isBlockB)
    stored = getTransposed(dot, engine);
  if (engine && isBlockA && isBlockB && isHeld(dot, a, engine)) {
    operands.sourceA = OperandSource::Registers;
    return planBufferEngine(dot, operands, target, numWarps).engine;
  }
  if (dot.isScaled()) // scaled dots are created only if shared memory has space for their operands
    stored.append({dot.getAScale(), dot.getBScale()});
  bool hasRoom = makeRoom(stored) || dot.isScaled();
  return engine && hasRoom ? engine : cta::BufferEngine();
}

/// Returns the number of registers per thread that all accumulators and register operands of the loop's dots take,
/// except for held operands.
static int64_t countTensors(LoopLikeOpInterface loop, int64_t threads) {
  int64_t registers = 0;
  loop->walk([&](DotOp dot) {
    registers += dot.getType().getNumElements() / threads;
    if (isComputedFromDots(dot))
      registers += LayoutSlicer::bytesOf(dot.getA()) / 4 / threads;
  });
  return registers;
}

/// Returns true if a loop-invariant left operand should be held in registers during the loop. This pays off if reading
/// the operand from shared memory takes as long as the MMA, because concurrent copies slow down the reads. It must
/// neither displace a second CTA from the multiprocessor nor prevent dots from running one iteration ahead.
bool EngineChooser::isHeld(DotOp dot, const SharedOperand &a, cta::BufferEngine engine) {
  auto wgmma = dyn_cast<cta::WgmmaAttr>(engine);
  if (!wgmma)
    return false;
  const target::Tuned &tuned = target::tunedOf(target);
  auto loop = dot->getParentOfType<LoopLikeOpInterface>();
  bool isSame = loop && !isa<ProgramsOp>(loop) && !loop->isAncestor(a.source);
  if (!isSame || a.transposed || !isFragmentOfAccumulators(dot))
    return false;
  int64_t threads = numWarps * target::threadsPerWarp;
  int64_t registers = LayoutSlicer::bytesOf(dot.getA()) * engine.getGroupsN() / 4 / threads;
  int64_t &held = heldRegisters[loop], tensors = countTensors(loop, threads);
  bool hasRoom = tensors + held + registers <= tuned.tensorRegistersAhead &&
                 target::planSharedRoleRegisters(target, numWarps / target::warpsPerGroup, tensors,
                                                 /*registersOfAccumulator=*/0)
                     .empty();
  if (!target::isBoundBySharedMemory(wgmma.getN(), /*isWritten=*/hasRoom) ||
      countCarriedAccumulators(loop, numWarps) + held + registers > tuned.heldOperandRegisters)
    return false;
  held += registers;
  return true;
}

/// Returns true if these operands fit into shared memory together with those of other dots. In that case, also reserves
/// memory for them.
bool EngineChooser::makeRoom(ArrayRef<Value> stored) {
  llvm::SetVector<Value> all = storedOperands;
  all.insert_range(stored);
  // The remaining memory is for conversions and epilogues.
  double room = target::tunedOf(target).storedOperandShare * target.maxSharedPerCta;
  // Copies of wgmma operands start before earlier operands have been used, so their buffers cannot share memory.
  const bool freesUsed = target.has(target::Feature::Tcgen05);
  if (double(countOperandBytes(all.getArrayRef(), freesUsed)) > room)
    return false;
  storedOperands = std::move(all);
  return true;
}

Engine EngineChooser::choose(DotOp dot) {
  if (!target::hasBufferEngine(target))
    return chooseWarps(dot, target, numWarps);
  if (accesses)
    if (cta::BufferEngine engine = chooseForBlocks(dot))
      return cast<Engine>(Attribute(engine));
  if (cta::BufferEngine engine = chooseForSources(dot))
    return cast<Engine>(Attribute(engine));
  return chooseWarps(dot, target, numWarps);
}

cta::BufferEngine tile::getBufferEngine(DotOp dot) {
  return dyn_cast_if_present<cta::BufferEngine>(Attribute(dot.getEngineAttr()));
}

cta::BufferEngine tile::getEngineOfBlocks(DotOp dot) {
  cta::BufferEngine engine = getBufferEngine(dot);
  bool isBlock =
      engine && (engine.getSourceB() == OperandSource::Tma || engine.getSourceB() == OperandSource::Transposed);
  return isBlock ? engine : cta::BufferEngine();
}

/// For a dot of fewer than 64 rows, returns why tcgen05 does not compute the transposed result instead; empty if the
/// sizes are not the reason.
static std::string whyNotTransposed(DotOp dot, const target::GpuTarget &target) {
  const int64_t m = dot.getType().getDimSize(0), n = dot.getType().getDimSize(1), k = dot.getDepth();
  if (!target.has(target::Feature::Tcgen05) || m >= target::wgmmaRows)
    return "";
  std::string text;
  llvm::raw_string_ostream os(text);
  if (isSmall(dot, target))
    os << "mma.sync computes a dot of " << m << 'x' << n << 'x' << k
       << " in less time than an accumulator takes through tensor memory; tcgen05 pays off with larger blocks";
  else if (n < target::wgmmaRows)
    os << "tcgen05 needs at least 64 rows or, transposed, 64 columns; the dot has " << m << " and " << n
       << "; use larger blocks";
  return text;
}

std::string tile::whyNoWgmma(DotOp dot, const target::GpuTarget &target, unsigned numWarps) {
  if (std::string reason = getMmaTypes(dot) ? whyNotTransposed(dot, target) : ""; !reason.empty())
    return reason;
  BufferEnginePlan plan = planBufferEngine(dot, {.bTransposed = true}, target, numWarps);
  if (BufferEnginePlan transposed = planTransposedResult(dot, {.bTransposed = true}, target, numWarps);
      transposed.engine || !transposed.reason.empty())
    plan = transposed;
  return plan.engine ? "operands of " + std::string(target::nameOfBufferEngine(target)) +
                           " would take more than 3/4 of shared memory; use smaller blocks"
                     : plan.reason;
}

std::string tile::whyNoWgmmaOfBlocks(DotOp dot, bool aTransposed, bool bTransposed, const target::GpuTarget &target,
                                     unsigned numWarps) {
  // wgmma reads most blocks of 16-bit types in any memory layout, other blocks only in the layout that is tried here.
  if (!chooseEitherOrder(dot, /*aTransposed=*/false, /*bTransposed=*/true, target, numWarps))
    return std::string(target::nameOfBufferEngine(target)) + " does not support these types, sizes or operand orders";
  StringRef which = aTransposed && !bTransposed ? "a is M-major and b is N-major; transpose both"
                    : aTransposed               ? "a is M-major; transpose a"
                                                : "b is N-major; transpose b";
  return std::string(target::nameOfBufferEngine(target)) + " needs K-major operands of these types and sizes; " +
         which.str();
}
